"""Every guard of the promise, in one table."""

from typing import Final

from tests.guards.removal import THE_WAY, Removal
from tests.guards.removals_of_deciding import DECIDING
from tests.guards.removals_of_judging import JUDGING
from tests.guards.removals_of_knowing import KNOWING
from tests.guards.removals_of_restoring import RESTORING
from tests.guards.removals_of_sending import SENDING

__all__ = ["REMOVALS", "THE_WAY", "Removal"]

REMOVALS: Final = (*SENDING, *JUDGING, *DECIDING, *KNOWING, *RESTORING)
