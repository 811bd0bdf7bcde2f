"""Who is calling, and for which account.

Keys: https://docs.stripe.com/keys; connected accounts: https://docs.stripe.com/connect/authentication
"""

import base64
import binascii

from sandbox.errors import ApiError
from sandbox.state import ApiKey, Realm, World
from sandbox.wire import Request


def authenticate(world: World, request: Request) -> tuple[ApiKey, Realm]:
    """The key and the realm of a request.

    Raises:
        ApiError: 401 without a good key, 403 if the key may not do this.
    """
    secret = _secret(request.headers.get("authorization", ""))
    if not secret:
        raise ApiError(401, "No API key was given. Send it as a bearer token or by basic auth.")
    shown = secret[:8] + "***"
    key = world.api_keys.get(secret)
    if key is None:
        raise ApiError(401, f"Invalid API key: {shown}")
    if key.expired:
        raise ApiError(401, f"Expired API key: {shown}", code="api_key_expired")
    account = request.headers.get("stripe-account", key.account)
    if account != key.account and world.platforms.get(account) != key.account:
        raise ApiError(
            403,
            f"The key {shown} has no access to account '{account}', or it does not exist.",
            code="account_invalid",
        )
    if not (key.reads if request.method == "GET" else key.writes):
        raise ApiError(403, f"The key {shown} lacks the permission for this endpoint.")
    return key, world.realm(account, livemode=key.livemode)


def _secret(header: str) -> str:
    scheme, _, value = header.partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() != "basic":
        return ""
    try:
        return base64.b64decode(value, validate=True).decode().partition(":")[0]
    except (binascii.Error, UnicodeDecodeError):
        return ""
