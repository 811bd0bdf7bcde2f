"""What was typed into the search box and chosen beside it, as something to look for. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final, Self
from urllib.parse import urlencode
from uuid import UUID

from dispatcher.providers.stripe.money import currencies
from ledger.errors import InvalidInput
from ledger.postgres.search_scan import Amount, Looked, Standing
from ledger.postgres.search_values import id_range

_MOST: Final = 200
"""Characters of the box that are looked at."""
_PROVIDERS: Final = re.compile(r"[a-z]{2,12}_[A-Za-z0-9_]{1,120}")
_HEX: Final = re.compile(r"[0-9a-fA-F-]{8,36}")
_AMOUNT: Final = re.compile(r"(\d[\d.,' ]*?)(?:[.,](\d{1,3}))?\s*([A-Za-z]{3})?")
_WHOLE_MOST: Final = 15
_GROUP: Final = 3
"""`4,120`: digits that are thousands, except where a currency has so many decimals."""
_DAYS: Final = {"1": 1, "7": 7, "30": 30, "90": 90}


@dataclass(frozen=True, slots=True)
class Asked:
    """The search, as it was typed and chosen."""

    text: str
    state: str
    type: str
    account: str
    since: str
    """Days, as text."""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """From an address; what can't be chosen is passed over."""
        state, since = query.get("state", ""), query.get("since", "")
        return cls(
            text=query.get("q", "").replace("\0", "").strip()[:_MOST],
            state=state if state in set(Standing) else "",
            type=query.get("type", "").replace("\0", "")[:_MOST],
            account=query.get("account", "").replace("\0", "")[:_MOST],
            since=since if since in _DAYS else "",
        )

    @property
    def id(self) -> UUID | None:
        """The whole id that was typed."""
        try:
            return UUID(self.text) if _HEX.fullmatch(self.text) else None
        except ValueError:
            return None

    def link(self, path: str = "/console/operations", **more: object) -> str:
        """An address with the same search; `name=""` leaves a part of it out."""
        given = {
            "q": self.text,
            **{name: getattr(self, name) for name in ("state", "type", "account", "since")},
            **more,
        }
        query = urlencode({name: value for name, value in given.items() if value})
        return f"{path}?{query}" if query else path

    def looked(self, now: datetime) -> Looked:
        """What it means."""
        chosen = Looked(
            standing=Standing(self.state) if self.state else None,
            type=self.type or None,
            account=self.account or None,
            since=now - timedelta(days=_DAYS[self.since]) if self.since else None,
        )
        if not self.text:
            return chosen
        if _HEX.fullmatch(self.text) and not self.text.isdecimal():
            try:
                return replace(chosen, ids=id_range(self.text))
            except InvalidInput:
                pass
        if _PROVIDERS.fullmatch(self.text):
            return replace(chosen, named=self.text)
        amount = amount_of(self.text)
        if amount is not None:
            return replace(chosen, amount=amount)
        return replace(chosen, words=self.text)


def amount_of(text: str) -> Amount | None:
    """`89`, `89.00`, `4.120,00 EUR` in the minor units of each currency; no amount: `None`."""
    found = _AMOUNT.fullmatch(text.strip())
    if found is None:
        return None
    whole, part, named = found.groups()
    digits = re.sub(r"[.,' ]", "", whole)
    if len(digits) > _WHOLE_MOST:
        return None
    values: list[tuple[frozenset[str], int]] = []
    for places in (0, 2, 3):
        thousands = part is not None and len(part) == _GROUP > places
        value = Decimal(f"{digits}{part}") if thousands else Decimal(f"{digits}.{part or 0}")
        scaled = value.scaleb(places)
        units = currencies(places)
        wanted = units if named is None else units & {named.lower()}
        if wanted and scaled == scaled.to_integral_value():
            values.append((wanted, int(scaled)))
    return Amount(tuple(values))
