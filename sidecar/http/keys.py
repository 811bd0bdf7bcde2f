"""The caller's own name for a request, so that a repeat can be told from a new one."""

from collections.abc import Mapping
from typing import Final

from sidecar.http.problems import Problem

KEY_MOST: Final = 200


def key_header(headers: Mapping[str, str]) -> str | None:
    """The caller's `Idempotency-Key`.

    Raises:
        Problem: It does not fit.
    """
    given = headers.get("idempotency-key")
    if given is None:
        return None
    if not 0 < len(given) <= KEY_MOST or not given.isascii() or not given.isprintable():
        raise Problem(
            "invalid_request",
            f"an Idempotency-Key has 1 to {KEY_MOST} visible ASCII characters",
            {"Idempotency-Key": "does not fit"},
        )
    return given
