"""Which credential an attempt used, without the credential. Pure."""

import hashlib
import hmac


def fingerprint(api_key: str, salt: bytes) -> str:
    """HMAC-SHA256 of the key under this installation's salt, in hex."""
    return hmac.new(salt, api_key.encode(), hashlib.sha256).hexdigest()
