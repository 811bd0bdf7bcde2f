"""Judging decisions: who may decide, how many must, about what, and until when.

Computed from votes, proposals and authorizations as they stand, by the rules of the
documentation; the statements that took the decisions are not asked.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date
from typing import Any
from uuid import UUID

from tests.simulation.played import Played
from tests.simulation.process import DAILY_MINOR, POLICY


def undecided(played: Played, operations: list[dict[str, Any]]) -> Iterator[str]:
    """Say what took place without a decision, or against the rules for deciding."""
    db = played.line.db
    proposals = {row["id"]: row for row in db.execute("SELECT * FROM proposals").fetchall()}
    grants = db.execute("SELECT * FROM authorizations").fetchall()
    granted = {row["proposal_id"] for row in grants}
    votes: defaultdict[UUID, set[str]] = defaultdict(set)
    for row in db.execute("SELECT proposal_id, voter FROM votes").fetchall():
        votes[row["proposal_id"]].add(row["voter"])
    for proposal in proposals.values():
        name = str(proposal["id"])[-6:]
        for why in _against(proposal, votes[proposal["id"]], granted):
            yield f"proposal {name}: {why}"
    for operation in operations:
        decided = proposals.get(operation["proposal_id"])
        if decided is None or decided["state"] != "approved":
            yield f"{operation['id'].hex[-6:]} exists, and its proposal is not approved"
    recorded = {operation["id"] for operation in operations}
    for left in played.provider.left:
        if left.operation_id not in recorded and not played.is_forgotten(left.at_s):
            yield f"{left.operation_id.hex[-6:]} was sent, and no operation is recorded"
    yield from _over_the_limit(proposals, operations)


def _against(proposal: dict[str, Any], voters: set[str], granted: set[UUID]) -> Iterator[str]:
    approved = proposal["state"] == "approved"
    if approved != (proposal["id"] in granted):
        yield f"{proposal['state']}, and its authorization says otherwise"
    if proposal["mode"] != "human":
        return
    total = sum(item.get("amount_minor") or 0 for item in proposal["input"] or ())
    needed = 2 if total > POLICY.two_people[0].above_minor["eur"] else 1
    if proposal["requested_by"] in voters:
        yield "approved in the name of whoever asked for it"
    if approved and len(voters) < needed:
        yield f"{total} approved by {sorted(voters)}, {needed} people are needed"
    if approved and proposal["decided_at"] > proposal["expires_at"]:
        yield f"approved at {proposal['decided_at']}, over since {proposal['expires_at']}"


def _over_the_limit(
    proposals: dict[UUID, dict[str, Any]], operations: list[dict[str, Any]]
) -> Iterator[str]:
    """What the policy approved by itself, summed for each agent and day of the database's clock."""
    sums = Counter[tuple[str, date]]()
    for operation in operations:
        proposal = proposals.get(operation["proposal_id"])
        if proposal is None or proposal["mode"] != "auto":
            continue
        day = proposal["created_at"].date()
        sums[proposal["requested_by"], day] += operation["amount_minor"] or 0
    for (agent, day), total in sums.items():
        if total > DAILY_MINOR:
            yield f"the policy let {agent} move {total} on {day}; its limit is {DAILY_MINOR}"
