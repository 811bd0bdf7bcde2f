"""Idempotency keys that survive a crash.

A key has to be the same when a request is repeated, and a process that died no longer knows what
it said. Agents whose tool calls have ids of their own need none of this: they give run and tool
call. For the others, a file remembers which request was made under which key.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4


class KeyFile:
    """Remembers keys by what was asked for; on disk before the request leaves."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)

    def key(self, type_: str, items: Sequence[Mapping[str, Any]]) -> str:
        """The key of this request: a new one the first time, the same one afterwards."""
        name = _digest(type_, items)
        with self._path.open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            known = _read(file.read())
            if name not in known:
                known[name] = str(uuid4())
                _append(file.fileno(), {name: known[name]})
        return known[name]

    def forget(self, type_: str, items: Sequence[Mapping[str, Any]]) -> None:
        """The end of this request is known and kept: the same one again is a new one."""
        with self._path.open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            _append(file.fileno(), {_digest(type_, items): None})


def _digest(type_: str, items: Sequence[Mapping[str, Any]]) -> str:
    text = json.dumps([type_, [dict(item) for item in items]], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _read(text: str) -> dict[str, str]:
    known: dict[str, str] = {}
    for line in text.splitlines():
        try:
            entry: dict[str, str | None] = json.loads(line)
        except ValueError:  # a line that a crash cut off: its request never left
            continue
        for name, key in entry.items():
            if key is None:
                known.pop(name, None)
            else:
                known[name] = key
    return known


def _append(descriptor: int, entry: Mapping[str, str | None]) -> None:
    os.write(descriptor, b"\n" + json.dumps(entry).encode() + b"\n")
    os.fsync(descriptor)
