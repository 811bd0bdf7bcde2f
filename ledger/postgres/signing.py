"""The key that signs checkpoints: kept in a file outside the database, never stored in it."""

import base64
import binascii
import contextlib
import hashlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from ledger.errors import OutliveError

_KEY_ID_HEX: Final = 16


class UnusableKey(OutliveError):
    """The signing key can't be read, or is of another kind."""

    code = "unusable_key"

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(
            f"{path}: {problem}. It should hold an Ed25519 key, as PEM or as 32 bytes in base64."
        )


@dataclass(frozen=True, slots=True)
class Signer:
    """Signs checkpoints."""

    key: Ed25519PrivateKey

    @property
    def key_id(self) -> str:
        """Names the public key in each checkpoint."""
        return key_id(self.public_key)

    @property
    def public_key(self) -> Ed25519PublicKey:
        """What an auditor needs."""
        return self.key.public_key()

    def public_pem(self) -> str:
        """The public key in the form that `load_public_key` reads."""
        return self.public_key.public_bytes(
            Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
        ).decode()


def key_id(public_key: Ed25519PublicKey) -> str:
    """The first 64 bits of the SHA-256 of the raw public key, in hexadecimal."""
    raw = public_key.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return hashlib.sha256(raw).hexdigest()[:_KEY_ID_HEX]


def signature_holds(public_key: Ed25519PublicKey, signature: bytes, signed: bytes) -> bool:
    """Whether the key signed exactly these bytes."""
    try:
        public_key.verify(signature, signed)
    except InvalidSignature:
        return False
    return True


def load_signer(path: Path, *, create: bool = False) -> Signer:
    """Read the signing key, or make one that only its owner can read.

    Args:
        path: PEM (unencrypted) or the 32 bytes of the private key in base64.
        create: Make a new key where the file does not exist.

    Raises:
        UnusableKey: The file is missing, unreadable or no Ed25519 key.
    """
    if create:
        _create(path)
    data = _read(path)
    if not data.startswith(b"-----"):
        return Signer(_from_base64(path, data))
    try:
        key = load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UnusableKey(path, f"not readable as a private key ({error})") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise UnusableKey(path, "a key of another kind")
    return Signer(key)


def load_public_key(path: Path) -> Ed25519PublicKey:
    """Read a public key in PEM: all that checking signatures needs.

    Raises:
        UnusableKey: The file is missing, unreadable or no Ed25519 public key.
    """
    try:
        key = load_pem_public_key(_read(path))
    except (ValueError, UnsupportedAlgorithm) as error:
        raise UnusableKey(path, f"not readable as a public key ({error})") from error
    if not isinstance(key, Ed25519PublicKey):
        raise UnusableKey(path, "a key of another kind")
    return key


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes().strip()
    except OSError as error:
        raise UnusableKey(path, f"can't be read ({error.strerror})") from error


def _from_base64(path: Path, data: bytes) -> Ed25519PrivateKey:
    try:
        return Ed25519PrivateKey.from_private_bytes(base64.b64decode(data, validate=True))
    except (binascii.Error, ValueError) as error:
        raise UnusableKey(path, f"not 32 bytes in base64 ({error})") from error


def _create(path: Path) -> None:
    """Write a new key under another name first: whoever comes second finds a whole file."""
    if path.exists():
        return
    pem = Ed25519PrivateKey.generate().private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
    )
    draft = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(pem)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(draft)  # unlike a rename, never replaces a key
        draft.unlink()
    except OSError as error:
        raise UnusableKey(path, f"can't be made ({error.strerror})") from error
