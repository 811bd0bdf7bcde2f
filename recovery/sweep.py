"""The reverse sweep: from the provider's lists back into the ledger. Reads there, wakes here.

It resumes where it stopped: each page is kept once what it holds was compared.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from dispatcher.provider import OperationType, Trouble
from dispatcher.sweeping import Found, Sweepable, SweepPage
from ledger.errors import DatabaseUnreachable
from ledger.model import Marker
from ledger.postgres.ledger import Ledger
from ledger.sweeps import Known, Stretch, Unrecorded
from recovery.reverse import Place, own_marker, place, told

PAGES_MOST: Final = 20
"""In one pass and list: the read budget is for look-ups too."""
HOME_EVERY_S: Final = 60.0
"""How often the credential's account is asked for, until it is told."""

_log = logging.getLogger(__name__)


class ReverseSweep:
    """Compares the effects of all accounts that are known with the ledger."""

    def __init__(
        self,
        ledger: Ledger,
        kinds: Sequence[OperationType],
        actor: str,
        *,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ledger = ledger
        self._kinds = [kind for kind in kinds if isinstance(kind, Sweepable)]
        self._actor = actor
        self._clock_s = clock_s
        self._homes: dict[str, str] = {}
        self._ask_from_s: dict[str, float] = {}

    async def run(self) -> int:
        """Sweep what is due; how many pages were read."""
        pages = 0
        for kind in self._kinds:
            await self._ledger.sweeps.begin(kind.name, kind.provider, await self._home(kind))
            at = ""
            while stretch := await self._ledger.sweeps.take(kind.name, after=at):
                at = stretch.account
                pages += await self._read(kind, stretch)
        return pages

    async def _home(self, kind: Sweepable) -> str | None:
        """Asked until it is told, and then no more: what is never swept is never released."""
        now_s = self._clock_s()
        if kind.name not in self._homes and now_s >= self._ask_from_s.get(kind.name, now_s):
            self._ask_from_s[kind.name] = now_s + HOME_EVERY_S
            home = await kind.home_account()
            if home is not None:
                self._homes[kind.name] = home
        return self._homes.get(kind.name)

    async def _read(self, kind: Sweepable, begun: Stretch) -> int:
        """Read a list on from where it stands, so far as one pass goes; how many pages."""
        stretch: Stretch | None = begun
        for number in range(PAGES_MOST):
            if stretch is None:
                return number
            page = await self._page(kind, stretch)
            if page.trouble is not None:
                await self._stop(stretch, page)
                return number
            for found in page.found:
                await self._effect(kind, stretch.account, found)
            stretch = await self._on(stretch, page, more=number + 1 < PAGES_MOST)
        return PAGES_MOST

    async def _page(self, kind: Sweepable, stretch: Stretch) -> SweepPage:
        """One page; an adapter that breaks over it holds up this list only, and it is told."""
        try:
            return await kind.sweep(stretch.account, stretch.since, stretch.page)
        except DatabaseUnreachable:
            raise  # the read budget is kept there
        except Exception as error:  # noqa: BLE001  whatever it is, it must not stop the others
            _log.exception("the sweep of %s at %s broke", stretch.type, stretch.account)
            named = type(error).__name__  # its text may hold what is nobody's business
            return SweepPage(
                trouble=Trouble.INCONSISTENT, detail=f"it broke ({named}); see the log"
            )

    async def _on(self, stretch: Stretch, page: SweepPage, *, more: bool) -> Stretch | None:
        """Keep the page; what comes next, if anything."""
        until = stretch.until or min(stretch.at, page.at or stretch.at)
        done = page.next_page is None
        after = replace(stretch, until=until, page=page.next_page)
        kept = await self._ledger.sweeps.put(after, compared=len(page.found), done=done, keep=more)
        return after if kept and not done and more else None

    async def _stop(self, stretch: Stretch, page: SweepPage) -> None:
        _log.warning("sweep of %s at %s: %s", stretch.type, stretch.account, page.detail)
        lost = page.trouble is Trouble.NOT_VISIBLE
        again = replace(stretch, page=None, until=None) if lost else stretch
        await self._ledger.sweeps.put(again, trouble=page.detail or str(page.trouble))

    async def _effect(self, kind: Sweepable, account: str, found: Found) -> None:
        marker = own_marker(found, self._ledger.identity.ledger_id)
        if marker is None:
            return
        reference = found.effect.reference
        [known] = await self._ledger.sweeps.known(
            kind.provider, account, [(reference, marker.operation_id)]
        )
        match place(found, known):
            case Place.KNOWN:
                pass
            case Place.WAKE:
                await self._ledger.wake(
                    marker.operation_id,
                    actor=self._actor,
                    kind="swept",
                    told={"reference": reference, "status": found.effect.provider_status},
                )
            case Place.UNRECORDED:
                await self._ask(kind, account, found, marker, known)

    async def _ask(
        self, kind: Sweepable, account: str, found: Found, marker: Marker, known: Known
    ) -> None:
        object_id = found.object_id
        is_new = await self._ledger.sweeps.ask(
            Unrecorded(
                provider=kind.provider,
                account=account,
                reference=found.effect.reference,
                target=None if object_id is None else f"{account}/{object_id}",
                money=found.effect.money,
                dossier=told(found, marker, known, account),
            )
        )
        if is_new:
            _log.warning("%s at %s has no operation here", found.effect.reference, account)
