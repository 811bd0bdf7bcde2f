"""All refunds of an account, page by page, newest first. Reads only.

Lists are fresh for read-after-write, which search is not:
https://docs.stripe.com/search#data-freshness. They filter by creation, not by metadata:
https://docs.stripe.com/api/refunds/list.
"""

from datetime import UTC, datetime, timedelta
from typing import Final

from dispatcher.provider import Effect, Trouble
from dispatcher.providers.stripe.api import StripeApi
from dispatcher.providers.stripe.objects import Refund
from dispatcher.providers.stripe.reading import NotSeen, Reading
from dispatcher.providers.stripe.refund_effect import liveness, marker_of
from dispatcher.sweeping import Found, SweepPage
from ledger.model import Money

_PATH: Final = "/v1/refunds"


async def read_page(api: StripeApi, account: str, since: datetime, page: str | None) -> SweepPage:
    """One page of the account's refunds; with proof that it is this account's.

    Raises:
        NotSeen: It can't be told.
    """
    reading = await _reading(api, account)
    try:
        refunds, has_more = await reading.page(
            Refund, _PATH, after=page, **{"created[gte]": str(int(since.timestamp()))}
        )
    except NotSeen as error:
        if error.trouble is Trouble.NOT_VISIBLE and page is None:
            raise NotSeen(Trouble.INCONSISTENT, str(error)) from error
        raise
    if has_more and not refunds:
        raise NotSeen(Trouble.INCONSISTENT, f"{_PATH}: an empty page says that more follow")
    return SweepPage(
        found=tuple(_found(refund) for refund in refunds),
        next_page=refunds[-1].id if has_more else None,
        at=datetime.now(UTC) + timedelta(seconds=reading.skew_s or 0.0),
    )


async def _reading(api: StripeApi, account: str) -> Reading:
    """Reads as the account: the credential's own, or one that is connected to it."""
    own = Reading(api, None)
    if (await own.own_account(None)).id == account:
        return own
    connected = Reading(api, account)
    await connected.own_account(account)
    return connected


def _found(refund: Refund) -> Found:
    effect = Effect(
        reference=refund.id,
        marker=marker_of(refund.metadata),
        subject_matches=True,
        money=Money(refund.amount, refund.currency),
        liveness=liveness(refund),
        provider_status=refund.status or "unknown",
        pending_reason=refund.pending_reason,
        created_at=datetime.fromtimestamp(refund.created, UTC),
    )
    return Found(effect, refund.charge)
