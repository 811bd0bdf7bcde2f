"""What a brake can be set on. One that names nothing would stop nothing, and nobody would know."""

import re
from collections.abc import Iterable
from typing import Final

from ledger.errors import InvalidInput
from sidecar.plain import plain

_SCOPE: Final = re.compile(r"all|provider:[a-z][a-z0-9_]{0,63}|type:[a-z][a-z0-9_.]{0,127}")


def a_scope(text: str) -> str:
    """Read a scope.

    Raises:
        InvalidInput: It is none.
    """
    if not _SCOPE.fullmatch(text):
        raise InvalidInput(f"{plain(text)!r} is no scope; use all, provider:NAME or type:NAME")
    return text


def scopes_of(types: Iterable[str]) -> list[str]:
    """Every scope that stops something, where these are the operation types."""
    known = sorted(set(types))
    providers = sorted({name.partition(".")[0] for name in known})
    return ["all", *(f"provider:{name}" for name in providers), *(f"type:{name}" for name in known)]


def must_stop_something(scope: str, types: Iterable[str]) -> None:
    """Refuse a scope that no operation is in: a slip of the pen, most likely.

    Raises:
        InvalidInput: Naming the scopes that there are.
    """
    known = scopes_of(types)
    if scope not in known:
        raise InvalidInput(
            f"{scope} would stop nothing: there is no such provider or type. "
            f"Use one of: {', '.join(known)}"
        )
