"""A batch of items as JSON Lines: one object of parameters a line. Nothing is guessed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from dispatcher.prepare import MAX_INPUT_BYTES, MAX_ITEM_BYTES, MAX_ITEMS
from ledger.canonical import digest, parse
from ledger.errors import InputTooLarge, InvalidInput
from ledger.model import Json

_BOM: Final = b"\xef\xbb\xbf"

Item = dict[str, Json]


@dataclass(frozen=True, slots=True)
class Batch:
    """Items as they were given."""

    items: tuple[Item, ...]

    def digest(self, kind: str) -> str:
        """SHA-256 over the canonical form of type and items."""
        return digest({"type": kind, "items": list(self.items)})


def read_batch(path: Path, stdin: BinaryIO) -> Batch:
    """Read a file, or standard input for `-`.

    Raises:
        InvalidInput: It can't be read, or a line is no JSON object; names the line.
        InputTooLarge: It is larger than a batch may be.
    """
    try:
        if str(path) == "-":
            data = stdin.read(MAX_INPUT_BYTES + 1)
        else:
            with path.open("rb") as file:
                data = file.read(MAX_INPUT_BYTES + 1)
    except OSError as error:
        raise InvalidInput(f"{path} can't be read: {error.strerror}") from error
    if len(data) > MAX_INPUT_BYTES:
        raise InputTooLarge(f"the input is over {MAX_INPUT_BYTES:,} bytes: split it")
    return parse_batch(data)


def parse_batch(data: bytes) -> Batch:
    """Parse JSON Lines; empty lines are passed over.

    Raises:
        InvalidInput: A line is no JSON object; names the line.
        InputTooLarge: A line is too long, or there are too many.
    """
    lines = [
        (number, line)
        for number, line in enumerate(data.removeprefix(_BOM).splitlines(), 1)
        if line.strip()
    ]
    if len(lines) > MAX_ITEMS:
        raise InputTooLarge(f"{len(lines):,} items; a batch holds at most {MAX_ITEMS:,}: split it")
    return Batch(tuple(_item(number, line) for number, line in lines))


def _item(number: int, line: bytes) -> Item:
    if len(line) > MAX_ITEM_BYTES:
        raise InputTooLarge(f"line {number} has {len(line):,} bytes; at most {MAX_ITEM_BYTES:,}")
    try:
        item: Any = parse(line.decode())
        digest(item)
    except UnicodeDecodeError as error:
        raise InvalidInput(f"line {number} is no UTF-8 ({error.reason})") from error
    except InvalidInput as error:
        raise InvalidInput(f"line {number}: {error}") from error
    if not isinstance(item, dict):
        raise InvalidInput(f"line {number} is no JSON object; write one object of parameters")
    return cast("Item", item)


def split_separate(separate: Sequence[int], items: int) -> frozenset[int]:
    """The items declared separate.

    Raises:
        InvalidInput: There is no such item.
    """
    strange = [number for number in separate if not 1 <= number <= items]
    if strange:
        raise InvalidInput(f"--separate {strange[0]}: items are numbered from 1 to {items}")
    return frozenset(separate)
