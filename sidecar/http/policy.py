"""`/v1/policy` and `/v1/types`: the rules in force, and what can be asked for."""

from typing import Annotated, Final

from pydantic import Field

from ledger.policy_past import Advice, Ending
from sidecar.access.roles import Right
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.models import JsonObject, NoBody, NoQuery, Query, Utc, View
from sidecar.proposals.policy_past import DAYS, PolicyRecord, policy_record


class PolicyView(View):
    """The policy in force."""

    version: int
    problem: str | None
    """Why a newer file is not in force, if it is broken."""
    policy: JsonObject


class TypeView(View):
    """An operation type."""

    name: str
    version: int
    provider: str
    risk: str
    about: str
    undo: str | None
    parameters_schema: JsonObject
    """JSON Schema of the parameters of one item."""


class TypesView(View):
    """What can be asked for here."""

    types: list[TypeView]


class RuleView(View):
    """What one rule did to one operation type."""

    rule: str
    type: str
    asked: int
    """How often people were asked; the rest went by themselves."""
    by_policy: int
    as_proposed: int
    changed: int
    rejected: int
    expired: int
    withdrawn: int
    waiting: int


class SuggestionView(View):
    """One thing to look at; nothing changes by itself."""

    advice: Advice
    rule: str | None
    type: str | None
    currency: str | None
    now_minor: int | None
    next_minor: int | None
    seen: int
    """Over how many requests it was seen."""
    would_pass: int
    """How many of these days' requests would have gone by themselves."""


class PolicyStatisticsView(View):
    """What the rules did lately."""

    since: Utc
    until: Utc
    requests: int
    cut: bool
    """There were more: only the newest were looked at."""
    rules: list[RuleView]
    suggestions: list[SuggestionView]


class StatisticsQuery(Query):
    """Over how long."""

    days: Annotated[int, Field(ge=1, le=90)] = DAYS


async def _statistics(call: Call[StatisticsQuery, NoBody]) -> Reply:
    held = call.doors.policy
    held.refresh()
    record = await policy_record(call.doors.ledger, held.policy, days=call.query.days)
    return Reply(statistics_view(record))


def statistics_view(record: PolicyRecord) -> PolicyStatisticsView:
    """A record as it is answered, here and by the command line."""
    return PolicyStatisticsView(
        since=record.since,
        until=record.until,
        requests=record.requests,
        cut=record.cut,
        rules=[
            RuleView(
                rule=one.rule,
                type=one.type,
                asked=one.asked,
                **{ending.value: one.counts.get(ending, 0) for ending in Ending},
            )
            for one in record.rules
        ],
        suggestions=[SuggestionView.model_validate(one) for one in record.suggestions],
    )


async def _policy(call: Call[NoQuery, NoBody]) -> Reply:
    held = call.doors.policy
    held.refresh()
    return Reply(
        PolicyView(
            version=held.policy.version,
            problem=held.problem,
            policy=held.policy.model_dump(mode="json"),
        )
    )


async def _types(call: Call[NoQuery, NoBody]) -> Reply:
    types = call.doors.types
    return Reply(
        TypesView(
            types=[
                TypeView(
                    name=kind.name,
                    version=kind.version,
                    provider=kind.provider,
                    risk=kind.risk.value,
                    about=kind.words.about,
                    undo=kind.words.undo,
                    parameters_schema=dict(kind.parameters_schema),
                )
                for kind in (types.get(name) for name in types.names)
            ]
        )
    )


TABLE: Final[Table] = (
    Endpoint(
        method="GET",
        path="/v1/policy",
        right=Right.OVERSEE,
        name="read_policy",
        summary="The policy in force, and what is wrong with a newer file.",
        query=NoQuery,
        body=NoBody,
        answers={200: PolicyView},
        handler=_policy,
    ),
    Endpoint(
        method="GET",
        path="/v1/policy/statistics",
        right=Right.OVERSEE,
        name="read_policy_statistics",
        summary="What each rule did lately, and what could be looked at.",
        query=StatisticsQuery,
        body=NoBody,
        answers={200: PolicyStatisticsView},
        handler=_statistics,
    ),
    Endpoint(
        method="GET",
        path="/v1/types",
        right=Right.READ,
        name="list_types",
        summary="Operation types, with the schema of their parameters.",
        query=NoQuery,
        body=NoBody,
        answers={200: TypesView},
        handler=_types,
    ),
)
