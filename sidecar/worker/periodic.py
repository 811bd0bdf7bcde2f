"""What a worker does again and again beside recovery: expiry, runs, messages, upkeep."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from ledger.postgres.ledger import Ledger
from ledger.postgres.outbox import Channel, Kind
from recovery.closing import ask_about_closing_windows
from sidecar.notify.addresses import Addresses
from sidecar.notify.news import News
from sidecar.notify.outbound import Carrier, Outbound
from sidecar.notify.resume import ResumeCarrier
from sidecar.notify.slack import SlackCarrier
from sidecar.notify.webhook import WebhookCarrier
from sidecar.proposals.policy_deeds import EVERY_S as POLICY_S
from sidecar.proposals.policy_deeds import PolicyDeeds
from sidecar.proposals.policy_file import PolicyFile
from sidecar.proposals.proposing import Proposer
from sidecar.proposals.reproposing import Reproposing
from sidecar.proposals.suspending import Suspending
from sidecar.proposals.waiting import Waits
from sidecar.settings import Settings
from sidecar.wiring import System
from sidecar.worker.chain_check import check_chain
from sidecar.worker.evidence_pass import EvidencePass
from sidecar.worker.outbox_pass import OutboxPass
from sidecar.worker.outside import WATCH_S, watch_outside
from sidecar.worker.process import Periodic
from sidecar.worker.runs_pass import RunsPass

SOON_S: Final = 1.0
EVIDENCE_S: Final = 5.0
MATTERS_S: Final = 5.0
CHAIN_S: Final = 60.0
"""So often a part of the history is recomputed: five thousand operations, some seconds."""
CLOSING_S: Final = 600.0
DAY_S: Final = 86_400.0
SWEEP_S: Final = 2.0
"""How often it is looked whether a sweep is due."""
MONTHS_AHEAD: Final = 3
SESSIONS_KEPT_DAYS: Final = 30
"""How long sign-in links and sessions that have ended are still told of."""
_EVERYWHERE: Final = ("0.0.0.0/0", "::/0")
"""An address that the operator sets may be a private one; what agents name may not."""


@asynccontextmanager
async def open_periodic(system: System) -> AsyncGenerator[list[Periodic]]:
    """The periodic work of a worker.

    Raises:
        BadPolicy: The policy file can't be used.
    """
    settings, ledger = system.settings, system.ledger
    policy = PolicyFile(settings.policy)
    proposer = Proposer(
        *(ledger, system.types, policy), lease_s=settings.lease_s, tracing=system.watch.tracing
    )
    waits = Waits(ledger.pool)
    addresses = settings.resume_addresses
    suspending = Suspending(ledger, system.types, proposer, waits, addresses)
    evidence = EvidencePass(ledger.escalations, system.watch.evidence)

    async def expire() -> None:
        await ledger.proposals.expire()

    async def partitions() -> None:
        await ledger.pool.rows("ensure_partitions", months_ahead=MONTHS_AHEAD)

    async def sessions() -> None:
        await ledger.pool.rows("forget_sessions", kept_days=SESSIONS_KEPT_DAYS)

    async def outside() -> None:
        await watch_outside(ledger, settings)

    async def chain() -> None:
        await check_chain(ledger, settings)

    async def remind() -> None:
        await ledger.outbox.page_again(every_s=settings.page_again_s)

    async def closing() -> None:
        for name in system.types.names:
            await ask_about_closing_windows(ledger, system.types.get(name))

    async with AsyncExitStack() as stack:
        outbox = await _outbox(stack, ledger, settings, policy)
        yield [
            Periodic("expiry", SOON_S, expire),
            Periodic("runs", SOON_S, RunsPass(ledger, suspending).run),
            Periodic("overtaken", SOON_S, Reproposing(ledger, system.types, proposer).run),
            Periodic("outbox", SOON_S, outbox.run),
            Periodic("reminders", min(60.0, settings.page_again_s), remind),
            Periodic("closing windows", CLOSING_S, closing),
            Periodic("policy", POLICY_S, PolicyDeeds(ledger.pool, policy).keep, at_once=True),
            Periodic("partitions", DAY_S, partitions, at_once=True),
            Periodic("sessions", DAY_S, sessions),
            Periodic("outside", WATCH_S, outside),
            Periodic("sweep", SWEEP_S, system.sweep().run),
            Periodic("telemetry", SOON_S, system.watch.work),
            Periodic("matters", MATTERS_S, system.watch.copy_matters),
            Periodic("chain", CHAIN_S, chain),
            Periodic("evidence", EVIDENCE_S, evidence.run),
        ]
        waits.close()


async def _outbox(
    stack: AsyncExitStack, ledger: Ledger, settings: Settings, policy: PolicyFile
) -> OutboxPass:
    """The channels that are set up; news for others is simply over."""
    news = News(ledger, settings.public_url)
    channels: list[Channel] = []
    agents = await _outbound(stack, settings.resume_addresses)
    secret = settings.resume_secret
    carriers: dict[Kind, Carrier] = {
        Kind.RESUME: ResumeCarrier(
            news, agents, secret=None if secret is None else secret.get_secret_value()
        )
    }
    if settings.webhook_url is not None and settings.webhook_secret is not None:
        own = await _outbound(stack, Addresses.of([settings.webhook_url], _EVERYWHERE))
        carriers[Kind.WEBHOOK] = WebhookCarrier(
            news, own, url=settings.webhook_url, secret=settings.webhook_secret.get_secret_value()
        )
        channels.append(Channel(Kind.WEBHOOK, ("proposal", "escalation", "run")))
    if settings.slack_token is not None and settings.slack_channel is not None:
        carriers[Kind.SLACK] = SlackCarrier(
            news,
            policy,
            token=settings.slack_token.get_secret_value(),
            channel=settings.slack_channel,
            base_url=settings.slack_url,
        )
        channels.append(Channel(Kind.SLACK, ("proposal", "escalation")))
    return OutboxPass(ledger.outbox, channels, carriers)


async def _outbound(stack: AsyncExitStack, addresses: Addresses) -> Outbound:
    outbound = Outbound(addresses)
    stack.push_async_callback(outbound.aclose)
    return outbound
