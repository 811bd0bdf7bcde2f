"""The signing key: a file of its owner's, in one of two forms, never in the database."""

import base64
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)

from ledger.postgres.signing import (
    Signer,
    UnusableKey,
    load_public_key,
    load_signer,
)


@pytest.fixture
def signer() -> Signer:
    """A new key."""
    return Signer(Ed25519PrivateKey.generate())


def test_a_new_key_is_its_owners_alone(tmp_path: Path) -> None:
    """It is made once, with mode 0600, and read again afterwards."""
    path = tmp_path / "checkpoint.pem"
    made = load_signer(path, create=True)
    assert path.stat().st_mode & 0o777 == 0o600
    assert load_signer(path, create=True).key_id == load_signer(path).key_id == made.key_id
    assert [file.name for file in tmp_path.iterdir()] == ["checkpoint.pem"]


def test_a_key_may_be_32_bytes_in_base64(tmp_path: Path) -> None:
    """As a secret store would hand it over."""
    key = Ed25519PrivateKey.generate()
    path = tmp_path / "key"
    path.write_bytes(base64.b64encode(key.private_bytes_raw()) + b"\n")
    assert load_signer(path).key_id == Signer(key).key_id


def test_a_public_key_is_enough_to_audit(tmp_path: Path, signer: Signer) -> None:
    """The auditor never holds the signing key."""
    path = tmp_path / "checkpoint.pub"
    path.write_text(signer.public_pem())
    assert load_public_key(path) == signer.public_key


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not base64!",
        base64.b64encode(b"too short"),
        b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
        X25519PrivateKey.generate().private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
        ),
    ],
    ids=["empty", "no base64", "short", "no key", "another kind"],
)
def test_what_is_no_key_is_refused(tmp_path: Path, content: bytes) -> None:
    """The error names the file and what it should hold."""
    path = tmp_path / "key"
    path.write_bytes(content)
    with pytest.raises(UnusableKey, match="Ed25519"):
        load_signer(path)
    with pytest.raises(UnusableKey, match="Ed25519"):
        load_public_key(path)


def test_a_missing_key_is_not_made_unasked(tmp_path: Path) -> None:
    """A wrong path must not become a second key."""
    with pytest.raises(UnusableKey, match="No such file"):
        load_signer(tmp_path / "key")
    assert list(tmp_path.iterdir()) == []
