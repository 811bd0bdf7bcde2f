"""`make guards`: take each guard out of a copy of the code, and see a test fail without it.

    python tests/guards/run.py [--json] [--only WORD]

Exits with 1 if a removal goes unnoticed, or if a test fails although nothing was removed.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import pytest
from rich.console import Console
from rich.table import Table

ROOT: Final = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # run as a file, from anywhere

from tests.guards.removals import REMOVALS, Removal
from tests.support.postgres import FAST, MEMORY, binaries_under_test, named, new_database, new_home

if TYPE_CHECKING:
    from collections.abc import Generator

COPIED: Final = ("ledger", "dispatcher", "recovery", "sidecar", "telemetry", "sandbox", "tests")
ONE_RUN_S: Final = 90.0


@dataclass(frozen=True, slots=True)
class Line:
    """What came of one removal."""

    removal: Removal
    caught: bool
    told: str
    """The end of pytest's own words, if it was not caught."""
