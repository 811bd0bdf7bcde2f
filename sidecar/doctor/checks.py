"""What must hold before a worker starts: nothing open that this code could not finish."""

import logging
from collections.abc import Sequence

from dispatcher.provider import Registry
from ledger.errors import OutliveError, UnknownType
from sidecar.inquiries import InFlight, Inquiries

_log = logging.getLogger(__name__)


class UnknownInFlight(OutliveError):
    """Operations are open whose type, or its version, this code does not know."""

    code = "unknown_in_flight"

    def __init__(self, unknown: Sequence[InFlight]) -> None:
        told = ", ".join(
            f"{one.count:,} of {one.type} version {one.type_version}" for one in unknown
        )
        super().__init__(
            f"operations are open that this code can't finish: {told}. Start the version of "
            "outlive that made them, and let it finish them first."
        )
        self.unknown = tuple(unknown)


def unknown_among(in_flight: Sequence[InFlight], registry: Registry) -> list[InFlight]:
    """Those of a type that is missing here, or of a newer version of it. Pure."""
    return [one for one in in_flight if not _known(one, registry)]


def _known(one: InFlight, registry: Registry) -> bool:
    try:
        return one.type_version <= registry.get(one.type).version
    except UnknownType:
        return False


async def check_start(inquiries: Inquiries, registry: Registry) -> None:
    """Refuse to start where work would be left lying; warn where an answer could be lost.

    Raises:
        UnknownInFlight: With the counts.
    """
    unknown = unknown_among(await inquiries.in_flight(), registry)
    if unknown:
        raise UnknownInFlight(unknown)
    server = await inquiries.server()
    if server.async_standbys:
        _log.warning(
            "%d asynchronous standby(s): one that is promoted may lack what was acknowledged; "
            "see synchronous_standby_names",
            server.async_standbys,
        )
