"""`outlive show OP --evidence`: everything that is known of an operation, on one timeline."""

from sidecar.books import books
from sidecar.cli.finding import find_operation
from sidecar.settings import Settings
from telemetry.settings import load_telemetry
from telemetry.timeline import Timeline
from telemetry.watch import open_watch


async def gather(settings: Settings, text: str) -> Timeline:
    """The timeline of an operation; a source that is away or not installed is a named gap.

    Args:
        settings: Of this command.
        text: The operation's id, or its unique beginning.

    Raises:
        UnknownOperation, AmbiguousId, InvalidInput: As `find_operation`.
        BadTelemetrySettings: A setting of telemetry can't be used.
    """
    watching = load_telemetry()
    async with books(settings) as opened:
        operation_id = await find_operation(opened, text)
        async with open_watch(
            watching, opened.ledger, home=settings.home, instance="reader", embedded=True
        ) as watch:
            return await watch.evidence.evidence(operation_id)
