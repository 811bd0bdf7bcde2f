"""The parts that endpoints need, put together by whoever serves."""

from dataclasses import dataclass

from ledger.postgres.ledger import Ledger
from ledger.postgres.search import Search
from recovery.asking import Asking
from recovery.bulk import BulkAnswers
from recovery.verdicts import Verdicts
from sidecar.access.tokens import Tokens
from sidecar.chain import ChainReader
from sidecar.http.limits import Buckets
from sidecar.http.measures import Measures
from sidecar.notify.slack_actions import SlackActions
from sidecar.places import Places
from sidecar.proposals.desk import Desk
from sidecar.proposals.policy_file import PolicyFile
from sidecar.proposals.proposing import Proposer
from sidecar.proposals.suspending import Suspending
from sidecar.registry import Types
from telemetry.watch import Watch


@dataclass(frozen=True, slots=True)
class Doors:
    """Everything behind the HTTP door."""

    ledger: Ledger
    search: Search
    types: Types
    desk: Desk
    proposer: Proposer
    suspending: Suspending
    slack: SlackActions | None
    """`None` where no signing secret is set."""
    verdicts: Verdicts
    asking: Asking
    bulk: BulkAnswers
    tokens: Tokens
    policy: PolicyFile
    measures: Measures
    buckets: Buckets
    hosts: frozenset[str]
    """Names under which this server may be addressed, in lower case, without port."""
    webhook_secrets: tuple[str, ...]
    """Stripe's signing secrets: during a roll the old one counts as well."""
    watch: Watch
    chain: ChainReader
    heartbeat_ttl_s: float
    public_url: str
    places: Places
