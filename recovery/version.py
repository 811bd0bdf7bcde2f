"""Which code decided: stored with every decision."""

from importlib.metadata import version
from typing import Final

CODE_VERSION: Final = version("outlive")
