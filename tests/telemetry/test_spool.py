"""The spool: what was appended is there after SIGKILL, and nothing of it disturbs a dispatch."""

import json
import os
import subprocess
import sys
from pathlib import Path

from telemetry.spool import Spool, read

ROOT = Path(__file__).parents[2]
WRITER = """
import os, signal, sys
from pathlib import Path
from telemetry.spool import Spool
spool = Spool(Path(sys.argv[1]))
for n in range(200):
    spool.append({"n": n})
os.kill(os.getpid(), signal.SIGKILL)
"""


def all_records(spool: Spool) -> list[int]:
    """What waits to be shipped."""
    return [record["n"] for path in spool.ready() for record in read(path)]


def test_every_record_survives_a_kill(tmp_path: Path) -> None:
    """A killed process's records are all found by another one."""
    subprocess.run(
        [sys.executable, "-c", WRITER, tmp_path],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert all_records(Spool(tmp_path)) == list(range(200))


def test_a_living_writers_file_is_left_to_it(tmp_path: Path) -> None:
    """Another process ships only what its writer has finished with."""
    writer, other = Spool(tmp_path), Spool(tmp_path)
    writer.append({"n": 1})
    assert all_records(other) == []
    assert all_records(writer) == [1]
    assert all_records(other) == [1]


def test_the_oldest_files_go_when_there_is_no_room(tmp_path: Path) -> None:
    """A back end that stays away costs a bounded amount of disk, and the loss is counted."""
    spool = Spool(tmp_path, file_bytes=100, total_bytes=500)
    for n in range(200):
        spool.append({"n": n})
    kept = all_records(spool)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 800
    assert spool.lost + len(kept) == 200
    assert spool.lost > 100


def test_a_folder_that_cannot_be_written_costs_only_the_record(tmp_path: Path) -> None:
    """The caller never hears of it."""
    (tmp_path / "file").write_text("")
    spool = Spool(tmp_path / "file" / "spool")
    spool.append({"n": 1})
    assert spool.lost == 1
    assert spool.ready() == []


def test_a_broken_last_line_is_left_out(tmp_path: Path) -> None:
    """A full disk may break a line off; the others count."""
    path = tmp_path / "x.ready.jsonl"
    path.write_text(json.dumps({"n": 1}) + '\n{"n": 2')
    assert read(path) == [{"n": 1}]
