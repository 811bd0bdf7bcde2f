"""The table of pages. A page of its own adds its file's table here, and nothing else."""

from typing import Final

from sidecar.console.page import Table
from sidecar.console.pages import now, settings

PAGES: Final[Table] = (
    *now.TABLE,
    *settings.TABLE,
)
