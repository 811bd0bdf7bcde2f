"""The operation types that this process knows, by name."""

from collections.abc import Sequence

from dispatcher.provider import OperationType
from ledger.errors import UnknownType


class Types:
    """A `Registry` over a fixed list."""

    def __init__(self, types: Sequence[OperationType]) -> None:
        self._types = {kind.name: kind for kind in types}

    def get(self, name: str) -> OperationType:
        """Find a type by name.

        Raises:
            UnknownType: Listing the known ones.
        """
        try:
            return self._types[name]
        except KeyError:
            raise UnknownType(name, list(self._types)) from None

    @property
    def names(self) -> list[str]:
        """All of them."""
        return sorted(self._types)
