"""One answer to many questions that share a cause: each is verified and written by itself.

Never *send again*, and never an answer that names an effect: those are for one operation each. The
same request under the same key finds what it did; a request that died on the way is taken up where
it was, since a question that it closed is known by who closed it, and how.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from ledger.canonical import digest
from ledger.errors import InvalidInput, OutliveError
from ledger.escalations import Escalation
from ledger.model import Json, Money
from ledger.postgres.answers import SignedAlready
from ledger.postgres.ledger import Ledger
from recovery.causes import share_a_cause, sums_of
from recovery.verdicts import Verdicts
from recovery.verify import AnswerGiven, Verdict, VerdictRefused

BULK: Final = frozenset({Verdict.DID_NOT_HAPPEN, Verdict.GIVE_UP, Verdict.WAIT, Verdict.SEEN})
"""Answers that many questions can get at once."""
MOST: Final = 100
_AT_ONCE: Final = 4


class BulkRefused(InvalidInput):
    """The request as a whole does not fit. Nothing was asked, nothing was recorded."""

    code = "bulk_refused"


class Became(StrEnum):
    """What became of one question."""

    CLOSED = "closed"
    SIGNED = "signed"
    """A second person must give the same answer."""
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Shown:
    """A question as the person had it before them."""

    id: UUID
    case_version: int


@dataclass(frozen=True, slots=True)
class BulkAnswer:
    """One answer to many questions, as typed."""

    verdict: Verdict
    by: str
    note: str
    questions: Sequence[Shown]
    count: int
    """How many the person said that they answer."""
    request_key: str
    until: datetime | None = None

    @property
    def digest(self) -> str:
        """What a repeated request must equal."""
        return digest(
            {
                "verdict": self.verdict.value,
                "note": self.note,
                "until": None if self.until is None else self.until.isoformat(),
                "questions": [[str(one.id), one.case_version] for one in self.questions],
            }
        )


class BulkAnswers:
    """Answers many questions, one by one."""

    def __init__(self, ledger: Ledger, verdicts: Verdicts) -> None:
        self._ledger = ledger
        self._verdicts = verdicts

    async def answer(self, given: BulkAnswer) -> Mapping[str, Json]:
        """Answer them: `results` with what became of each, and sums for each outcome.

        Raises:
            BulkRefused: The answer can't be given to many, the count differs, or they share no
                cause; nothing was recorded.
            KeyReused: The key came before with another body.
            BulkUnderWay: The same request is being worked on.
        """
        _must_fit(given)
        key = {"by": given.by, "request_key": given.request_key}
        known = await self._ledger.bulk.known(**key, digest=given.digest)
        if known is not None:
            return known
        questions = [await self._ledger.escalations.get(one.id) for one in given.questions]
        if not share_a_cause(questions):
            raise BulkRefused(
                "these questions share no cause; answer each by itself. Nothing was answered."
            )
        await self._ledger.bulk.begin(**key, digest=given.digest)
        slots = asyncio.Semaphore(_AT_ONCE)

        async def one(question: Escalation, shown: Shown) -> dict[str, Json]:
            async with slots:
                return await self._one(given, question, shown)

        results = await asyncio.gather(
            *(
                one(question, shown)
                for question, shown in zip(questions, given.questions, strict=True)
            )
        )
        result = _told(results)
        await self._ledger.bulk.end(**key, result=result)
        return result

    async def _one(self, given: BulkAnswer, question: Escalation, shown: Shown) -> dict[str, Json]:
        answer = AnswerGiven(
            given.verdict,
            given.by,
            given.note,
            until=given.until,
            expected_case_version=shown.case_version,
        )
        if not question.open and _by_this(given, question):
            return _item(question, Became.CLOSED)
        try:
            resolved = await self._verdicts.resolve(question, answer)
        except SignedAlready:
            return _item(question, Became.SIGNED)
        except OutliveError as error:
            return _item(question, Became.REFUSED, error)
        return _item(question, Became.SIGNED if resolved.signed else Became.CLOSED)


def _must_fit(given: BulkAnswer) -> None:
    if given.verdict not in BULK:
        raise BulkRefused(
            f"`{given.verdict.value}` is answered one by one: it names one effect, or sends. "
            "Nothing was answered."
        )
    if given.count != len(given.questions):
        raise BulkRefused(
            f"this names {len(given.questions)} questions, you said {given.count}. "
            "Nothing was answered."
        )
    if not 0 < len(given.questions) <= MOST:
        raise BulkRefused(f"answer 1 to {MOST} questions at once. Nothing was answered.")
    if len({one.id for one in given.questions}) != len(given.questions):
        raise BulkRefused("a question is named twice. Nothing was answered.")


def _by_this(given: BulkAnswer, question: Escalation) -> bool:
    """Whether this very request closed it, before it died."""
    stands = (question.closed_by, question.verdict, question.note)
    return stands == (given.by, given.verdict.value, given.note)


def _item(
    question: Escalation, became: Became, error: OutliveError | None = None
) -> dict[str, Json]:
    money = question.money
    differs = error.differs if isinstance(error, VerdictRefused) else None
    return {
        "id": str(question.id),
        "operation_id": None if question.operation_id is None else str(question.operation_id),
        "became": became.value,
        "code": None if error is None else error.code,
        "why": None if error is None else str(error),
        "differs": None if differs is None else asdict(differs),
        "money": None if money is None else asdict(money),
    }


def _told(results: Sequence[dict[str, Json]]) -> dict[str, Json]:
    """Each question, and what they come to for each outcome; sums are one a currency."""
    totals: dict[str, Json] = {}
    for became in Became:
        own = [one for one in results if one["became"] == became.value]
        sums = sums_of([None if one["money"] is None else Money(**one["money"]) for one in own])
        money = [{"amount_minor": total, "currency": currency} for currency, total in sums.items()]
        totals[became.value] = {"count": len(own), "money": money}
    return {"results": list(results), "totals": totals}
