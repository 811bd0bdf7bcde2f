"""The judges: the provider's true effects against the record, and every sending against the rules.

They go by what really happened (deeds, bytes that left, what people did) and compute the rules
from the documentation anew; nothing of recovery's own judgement is used.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from dispatcher.provider import Kind
from ledger.postgres.audit import verify
from tests.simulation.adapter import KINDS
from tests.simulation.approvals import undecided
from tests.simulation.bounds import late, needless, stuck
from tests.simulation.hands import Hand
from tests.simulation.played import Played
from tests.simulation.sendings import unsafe
from tests.simulation.shared import ledger_on
from tests.simulation.truth import Deed
from tests.simulation.verdict import STOPPED, Verdict, Violation, Wrong


def judge(played: Played) -> Verdict:
    """Judge a world that has ended; its database still stands."""
    db = played.line.db
    verdict = Verdict(
        played.seed,
        sendings=len(played.provider.left),
        deeds=len(played.provider.deeds),
        fates=played.stage.fates,
        steps=played.stage.turns,
        plans=played.plans,
        acts=played.deeds.acts,
        weather=played.weather,
        luck=Counter(left.luck.value for left in played.provider.left),
    )
    operations = db.execute("SELECT * FROM operations ORDER BY id").fetchall()
    questions = db.execute("SELECT * FROM escalations ORDER BY opened_at, id").fetchall()
    verdict.operations = len(operations)
    verdict.ends.update(_end(operation) for operation in operations)
    for question in questions:
        verdict.questions.update(question["reasons"])
    for row in db.execute("SELECT line, count(*) FROM decision_records GROUP BY line").fetchall():
        verdict.rows[row["line"]] = row["count"]
    verdict.rows[STOPPED] += played.lost
    for row in db.execute(
        "SELECT state, count(*) FROM proposals WHERE mode = 'human' GROUP BY state"
    ).fetchall():
        verdict.proposals[row["state"]] = row["count"]
    found = list(_found(played, operations, questions))
    if played.provider.facts.lies:
        # A provider that breaks its promises can make effects that nobody could prevent.
        reasons = {reason for question in questions for reason in question["reasons"]}
        found = [one for one in found if not _due_to_lies(one, reasons)]
    verdict.violations = found
    return verdict


def _found(
    played: Played, operations: list[dict[str, Any]], questions: list[dict[str, Any]]
) -> Iterator[Violation]:
    for operation in operations:
        yield from _of_operation(played, operation)
    yield from _of_intents(played, operations)
    yield from _of_the_lost(played, operations)
    yield from _of_promises(played, operations)
    yield from _of_history(played)
    told = {
        Wrong.FELL: played.faults,
        Wrong.UNSAFE: unsafe(played, operations, questions),
        Wrong.APPROVAL: undecided(played, operations),
        Wrong.STUCK: stuck(operations, questions),
        Wrong.LATE: late(played),
        Wrong.NEEDLESS: needless(played, operations, questions),
    }
    for kind, all_ in told.items():
        yield from (Violation(kind, one) for one in all_)


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
    # A provider that breaks its promises may do it twice. Where one of both is dead the money is
    # right, and nobody has anything to ask.
    twice = len(live) > 1 if played.provider.facts.lies else len(own) > 1
    if twice and can.kind is not Kind.TOLERABLE and Hand.SENT_AGAIN not in hands:
        yield Violation(Wrong.DUPLICATE, f"{name}: {_told(own)}")
    if state == "failed" and live and Hand.DENIED not in hands:
        yield Violation(Wrong.RECORD, f"{name} failed, yet {_told(live)}")
    # What is shown later than promised is found by a later look.
    later = played.provider.facts.lies and operation["next_check_at"] is not None
    if state == "failed" and live and Hand.DENIED in hands and can.looks_up and not later:
        yield Violation(Wrong.RECORD, f"{name} was let fail by a person, yet {_told(live)}")
    if state == "confirmed":
        achieved = can.target_state and played.provider.done.get(operation["object_id"], False)
        named = Hand.CLAIMED in hands and _done_alike_by_hand(played, operation)
        if not any(deed.stood for deed in own) and not achieved and not named:
            yield Violation(Wrong.RECORD, f"{name} confirmed, yet nothing stood: {_told(own)}")
    if (
        len(live) > 1
        and can.looks_up
        and not operation["escalated"]
        and not {"DUPLICATE_EFFECT", "EFFECT_MISMATCH"} & set(operation["acknowledged"])
        and not later
    ):
        yield Violation(Wrong.RECORD, f"{name}: nobody is told of {_told(live)}")


def _done_alike_by_hand(played: Played, operation: dict[str, Any]) -> bool:
    """Whether something stands without a marker that differs in nothing: a person may name it.

    That it was done by hand, and is not ours with its marker wiped, nobody but a person can know.
    """
    minor = operation["amount_minor"]
    return any(
        deed.marker is None
        and deed.stood
        and deed.object_id == operation["object_id"]
        and (None if deed.money is None else deed.money.amount_minor) == minor
        for deed in played.provider.deeds
    )


def _told(deeds: list[Deed]) -> str:
    return ", ".join(f"{d.reference} {d.liveness} at {d.at_s:.0f} s" for d in deeds) or "nothing"


def _of_intents(played: Played, operations: list[dict[str, Any]]) -> Iterator[Violation]:
    """On each object at most one living effect that no person asked for on purpose."""
    by_object: dict[str, list[UUID]] = {}
    for operation in operations:
        by_object.setdefault(operation["object_id"], []).append(operation["id"])
    for operation_id, object_id in _forgotten(played, operations):
        by_object.setdefault(object_id, []).append(operation_id)
    for object_id, ids in by_object.items():
        acted = [one for one in ids if any(deed.live for deed in played.provider.of(one))]
        meant = [one for one in acted if Hand.SEPARATE in played.deeds.hands[one]]
        # A person who says that nothing happened, or sends again, opens the way for another one.
        hands = {hand for one in ids for hand in played.deeds.hands[one]}
        misled = hands & {Hand.DENIED, Hand.SENT_AGAIN}
        if len(acted) - len(meant) > 1 and not misled:
            names = ", ".join(name_of(one) for one in acted)
            yield Violation(Wrong.INTENT, f"{object_id}: {names} all took effect")


def _forgotten(played: Played, operations: list[dict[str, Any]]) -> set[tuple[UUID, str]]:
    """Operations that a restored backup does not know, whose effects can be found at the provider.

    What can't be looked up (mail) is lost with the database, and nobody can promise anything.
    """
    known = {operation["id"] for operation in operations}
    return {
        (deed.marker.operation_id, deed.object_id)
        for deed in played.provider.deeds
        if deed.marker is not None and deed.marker.operation_id not in known and _listed(deed)
    }


def _listed(deed: Deed) -> bool:
    can = KINDS[deed.kind]
    return can.looks_up and not can.target_state


def _of_the_lost(played: Played, operations: list[dict[str, Any]]) -> Iterator[Violation]:
    """Each effect that no operation accounts for was put before a person."""
    lost = {operation_id for operation_id, _ in _forgotten(played, operations)}
    asked = played.line.db.execute("SELECT reference FROM escalations WHERE scope = 'effect'")
    named = {row["reference"] for row in asked.fetchall()}
    for deed in played.provider.deeds:
        if deed.operation_id in lost and deed.live and deed.reference not in named:
            yield Violation(Wrong.LOST, f"nobody is told of {_told([deed])}")


def _of_promises(played: Played, operations: list[dict[str, Any]]) -> Iterator[Violation]:
    known = {operation["id"] for operation in operations}
    rows = played.line.db.execute("SELECT id FROM proposals").fetchall()
    proposals = {row["id"] for row in rows}
    for told in played.told:
        if played.is_forgotten(told.at_s):
            continue
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
    if one.kind is Wrong.NEEDLESS or (one.kind is Wrong.LOST and "nobody is told" in one.told):
        return True
    if one.kind not in {Wrong.DUPLICATE, Wrong.INTENT, Wrong.RECORD}:
        return False
    if one.kind is Wrong.RECORD and "nobody is told" in one.told:
        return False
    told = {"DUPLICATE_EFFECT", "EFFECT_MISMATCH", "LATE_EFFECT"} & reasons
    return bool(told) or "key_only" in one.told or "mail" in one.told
