"""The judges: the provider's true effects against the record, and every sending against the rules.

They go by what really happened (deeds, bytes that left, what people did) and compute the rules
from the documentation anew; nothing of recovery's own judgement is used.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from dispatcher.provider import Kind
from ledger.escalations import NEEDS_A_PERSON
from ledger.postgres.audit import verify
from tests.simulation.actor import Fate
from tests.simulation.adapter import KINDS
from tests.simulation.line import ledger_on
from tests.simulation.people import Hand
from tests.simulation.played import Played
from tests.simulation.sendings import LEAPT, unsafe
from tests.simulation.stage import EPOCH
from tests.simulation.truth import Deed


class Wrong(StrEnum):
    """Kinds of violation."""

    DUPLICATE = "two effects of one operation"
    INTENT = "two effects for one intent"
    RECORD = "record against truth"
    UNSAFE = "unsafe sending"
    STUCK = "neither ended nor before a person"
    LOST = "acknowledged and lost"
    AUDIT = "history not whole"
    FELL = "a process fell over"


@dataclass(frozen=True, slots=True)
class Violation:
    """One."""

    kind: Wrong
    told: str


@dataclass(slots=True)
class Verdict:
    """What the judges say of a world."""

    seed: int
    violations: list[Violation] = field(default_factory=list[Violation])
    rows: Counter[int] = field(default_factory=Counter[int])
    """Decisions, by the table's row."""
    operations: int = 0
    sendings: int = 0
    deeds: int = 0
    questions: Counter[str] = field(default_factory=Counter[str])
    needless: Counter[str] = field(default_factory=Counter[str])
    ends: Counter[str] = field(default_factory=Counter[str])
    fates: Counter[Fate] = field(default_factory=Counter[Fate])
    steps: int = 0
    leaps: int = 0
    """Sendings before an earlier attempt had settled, since the database's clock leapt ahead."""


def judge(played: Played) -> Verdict:
    """Judge a world that has ended; its database still stands."""
    db = played.line.db
    verdict = Verdict(
        played.seed,
        sendings=len(played.provider.left),
        deeds=len(played.provider.deeds),
        fates=played.stage.fates,
        steps=played.stage.turns,
    )
    operations = db.execute("SELECT * FROM operations ORDER BY id").fetchall()
    questions = db.execute("SELECT * FROM escalations ORDER BY opened_at, id").fetchall()
    verdict.operations = len(operations)
    for row in db.execute("SELECT line FROM decision_records").fetchall():
        verdict.rows[row["line"]] += 1
    found: list[Violation] = [Violation(Wrong.FELL, told) for told in played.faults]
    for operation in operations:
        found += _of_operation(played, operation)
        verdict.ends[_end(operation)] += 1
    found += _of_intents(played, operations)
    for told in unsafe(played, operations, questions):
        if LEAPT in told:
            verdict.leaps += 1
        else:
            found.append(Violation(Wrong.UNSAFE, told))
    found += _of_liveness(operations, questions)
    found += _of_promises(played, operations)
    found += _of_history(played)
    if played.provider.facts.lies:
        # A provider that breaks its promises can make effects that nobody could prevent.
        reasons = {reason for question in questions for reason in question["reasons"]}
        found = [one for one in found if not _due_to_lies(one, reasons)]
    verdict.violations = found
    _count_questions(played, operations, questions, verdict)
    return verdict


def _end(operation: dict[str, Any]) -> str:
    if operation["state"] in {"created", "sent"}:
        return "given up" if operation["never_send"] else "before a person"
    return str(operation["state"])


def name_of(operation_id: UUID) -> str:
    """How the story calls it."""
    return operation_id.hex[-6:]


def _of_operation(played: Played, operation: dict[str, Any]) -> Iterator[Violation]:
    operation_id: UUID = operation["id"]
    name = f"{name_of(operation_id)} ({operation['type']})"
    state = operation["state"]
    can = KINDS[operation["type"].removeprefix("sim.")]
    hands = played.deeds.hands[operation_id]
    own = played.provider.of(operation_id)
    live = [deed for deed in own if deed.live]
    if len(own) > 1 and can.kind is not Kind.TOLERABLE and Hand.SENT_AGAIN not in hands:
        yield Violation(Wrong.DUPLICATE, f"{name}: {_told(own)}")
    if state == "failed" and live and Hand.DENIED not in hands:
        yield Violation(Wrong.RECORD, f"{name} failed, yet {_told(live)}")
    if state == "failed" and live and Hand.DENIED in hands and can.looks_up:
        yield Violation(Wrong.RECORD, f"{name} was let fail by a person, yet {_told(live)}")
    if state == "confirmed" and Hand.CLAIMED not in hands:
        achieved = can.target_state and played.provider.done.get(operation["object_id"], False)
        if not any(deed.stood for deed in own) and not achieved:
            yield Violation(Wrong.RECORD, f"{name} confirmed, yet nothing stood: {_told(own)}")
    if (
        len(live) > 1
        and can.looks_up
        and not operation["escalated"]
        and not {"DUPLICATE_EFFECT", "EFFECT_MISMATCH"} & set(operation["acknowledged"])
        # What is shown later than promised is found by a later look.
        and not (played.provider.facts.lies and operation["next_check_at"] is not None)
    ):
        yield Violation(Wrong.RECORD, f"{name}: nobody is told of {_told(live)}")


def _told(deeds: list[Deed]) -> str:
    return ", ".join(f"{d.reference} {d.liveness} at {d.at_s:.0f} s" for d in deeds) or "nothing"


def _of_intents(played: Played, operations: list[dict[str, Any]]) -> Iterator[Violation]:
    """On each object at most one living effect that no person asked for on purpose."""
    by_object: dict[str, list[UUID]] = {}
    for operation in operations:
        by_object.setdefault(operation["object_id"], []).append(operation["id"])
    for object_id, ids in by_object.items():
        acted = [one for one in ids if any(deed.live for deed in played.provider.of(one))]
        meant = [one for one in acted if Hand.SEPARATE in played.deeds.hands[one]]
        # A person who says that nothing happened, or sends again, opens the way for another one.
        hands = {hand for one in ids for hand in played.deeds.hands[one]}
        misled = hands & {Hand.DENIED, Hand.SENT_AGAIN}
        if len(acted) - len(meant) > 1 and not misled:
            names = ", ".join(name_of(one) for one in acted)
            yield Violation(Wrong.INTENT, f"{object_id}: {names} all took effect")


def _of_liveness(
    operations: list[dict[str, Any]], questions: list[dict[str, Any]]
) -> Iterator[Violation]:
    asked = {q["operation_id"] for q in questions if q["closed_at"] is None}
    accounts = any(q["scope"] == "account" and q["closed_at"] is None for q in questions)
    for operation in operations:
        if operation["state"] in {"confirmed", "failed"} or operation["never_send"]:
            continue
        if operation["id"] not in asked and not accounts:
            told = (
                f"{operation['state']}, {operation['decision']}, due {operation['next_check_at']}"
            )
            yield Violation(Wrong.STUCK, f"{name_of(operation['id'])}: {told}")


def _of_promises(played: Played, operations: list[dict[str, Any]]) -> Iterator[Violation]:
    known = {operation["id"] for operation in operations}
    rows = played.line.db.execute("SELECT id FROM proposals").fetchall()
    proposals = {row["id"] for row in rows}
    for told in played.told:
        if told.proposal_id not in proposals:
            yield Violation(Wrong.LOST, f"proposal {told.proposal_id}")
        for one in told.operation_ids:
            if one not in known:
                yield Violation(Wrong.LOST, f"operation {name_of(one)}")


def _of_history(played: Played) -> Iterator[Violation]:
    report = asyncio.run(verify(ledger_on(played.line), []))
    for finding in report.findings:
        yield Violation(Wrong.AUDIT, f"{finding.fault}: {finding.words}")


def _due_to_lies(one: Violation, reasons: set[str]) -> bool:
    """Whether a broken promise made it, and it is before a person, or could not be seen."""
    if one.kind in {Wrong.UNSAFE, Wrong.STUCK, Wrong.LOST, Wrong.AUDIT, Wrong.FELL}:
        return False
    if one.kind is Wrong.RECORD and "nobody is told" in one.told:
        return False
    told = {"DUPLICATE_EFFECT", "EFFECT_MISMATCH", "LATE_EFFECT"} & reasons
    return bool(told) or "key_only" in one.told or "mail" in one.told


_SLACK_S: Final = 1.0


def _count_questions(
    played: Played,
    operations: list[dict[str, Any]],
    questions: list[dict[str, Any]],
    verdict: Verdict,
) -> None:
    """A question is needless where a look-up would have shown the answer when it was asked."""
    types = {operation["id"]: operation["type"] for operation in operations}
    for question in questions:
        verdict.questions.update(question["reasons"])
        type_ = types.get(question["operation_id"])
        if type_ is None or NEEDS_A_PERSON & set(question["reasons"]):
            continue
        at_s = (question["opened_at"] - EPOCH).total_seconds()
        can = KINDS[type_.removeprefix("sim.")]
        spans = [*played.provider.troubled, *played.off_spans]
        if not can.looks_up or any(a <= at_s <= b + 3_600 for a, b in spans):
            continue
        own = played.provider.of(question["operation_id"])
        shown = [d for d in own if d.stood and d.shown_from_s < at_s - _SLACK_S]
        if shown and question["reasons"][0] not in {"CUSTOMER_ACTION", "PENDING_STALE"}:
            verdict.needless[question["reasons"][0]] += 1
