"""What waits in the spool goes to every back end, at least once, however long one stays away."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from telemetry.errors import ClickHouseUnreachable, CollectorUnreachable, UnsupportedSchema
from telemetry.spool import Record, Spool, read

_NEEDED: Final = {"event", "at_ns", "trace_id", "span_id", "attributes"}
_log = logging.getLogger(__name__)


class RecordSink(Protocol):
    """A back end that takes started records."""

    def insert_records(self, records: Sequence[Record]) -> None:
        """Take records; on return it has them."""
        ...


class Shipper:
    """Empties a spool. Blocks: runs in a thread."""

    def __init__(self, spool: Spool, sinks: Mapping[str, RecordSink]) -> None:
        self._spool = spool
        self._sinks = dict(sinks)
        self._done: set[tuple[Path, str]] = set()

    def ship(self) -> int:
        """Ship every file once; how many were shipped to all. Failures are tried again next time.

        A file that one back end has and another lacks is kept: after a restart the first may get
        it again, and the reader counts it once.
        """
        if not self._sinks:
            return 0
        away: set[str] = set()
        shipped = 0
        for path in self._spool.ready():
            records = [record for record in read(path) if record.keys() >= _NEEDED]
            for name, sink in self._sinks.items():
                if name not in away and (path, name) not in self._done:
                    if self._hand_over(name, sink, records):
                        self._done.add((path, name))
                    else:
                        away.add(name)
            if all((path, name) in self._done for name in self._sinks):
                path.unlink(missing_ok=True)
                self._done -= {(path, name) for name in self._sinks}
                shipped += 1
        return shipped

    def _hand_over(self, name: str, sink: RecordSink, records: Sequence[Record]) -> bool:
        try:
            sink.insert_records(records)
        except (ClickHouseUnreachable, CollectorUnreachable, UnsupportedSchema) as error:
            _log.info("%s does not take the spool: %s", name, error)
            return False
        return True
