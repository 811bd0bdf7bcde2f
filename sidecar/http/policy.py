"""`/v1/policy` and `/v1/types`: the rules in force, and what can be asked for."""

from typing import Final

from sidecar.access.roles import Right
from sidecar.http.endpoint import Call, Endpoint, Reply, Table
from sidecar.http.models import JsonObject, NoBody, NoQuery, View


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
