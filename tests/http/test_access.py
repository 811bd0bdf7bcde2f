"""What is refused at the door, and how that is said."""

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest

from ledger.errors import DatabaseUnreachable
from sidecar.access.roles import Role
from sidecar.http.limits import Buckets
from sidecar.http.openapi import codes_of, document
from sidecar.http.problems import STATUS
from sidecar.http.table import ENDPOINTS
from tests.support.house import House, propose, refund, waiting

KEY = {"Idempotency-Key": "k"}


def assert_problem(answer: Any, status: int, code: str) -> dict[str, Any]:
    """The answer is a problem of this kind, in the form of RFC 9457."""
    assert (answer.status_code, answer.headers["content-type"]) == (
        status,
        "application/problem+json",
    ), answer.text
    told: dict[str, Any] = answer.json()
    assert (told["code"], told["status"]) == (code, status)
    assert told["type"] == f"urn:outlive:problem:{code}"
    assert told["detail"]
    return told


async def test_a_foreign_host_name_is_refused(house: House) -> None:
    """A page elsewhere that points its own name at us gets nothing, not even without a token."""
    client = await house.as_(Role.ADMIN)
    for path in ("/v1/proposals", "/health", "/openapi.json"):
        answer = await client.get(path, headers={"Host": "evil.example"})
        assert_problem(answer, 421, "host_refused")
    assert (await client.get("/health", headers={"Host": "LOCALHOST:80"})).status_code == 200


async def test_no_other_origin_is_let_in(house: House) -> None:
    """No CORS header, and no answer to a browser's question beforehand."""
    client = await house.as_(Role.ADMIN)
    headers = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    answer = await client.options("/v1/operations", headers=headers)
    assert_problem(answer, 405, "method_not_allowed")
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD", "POST"}
    answer = await client.get("/v1/proposals", headers=headers)
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_without_a_token_it_says_how_to_get_one(house: House) -> None:
    """401, with the scheme."""
    answer = await (await house.client()).get("/v1/operations")
    assert_problem(answer, 401, "unauthenticated")
    assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_a_token_that_asks_too_fast_is_told_when_to_come_back(house: House) -> None:
    """429 with Retry-After; another token is not held up."""
    house.serving.doors.buckets.burst = 3
    house.serving.doors.buckets.per_s = 0.1
    fast, other = await house.as_(Role.READER, "fast"), await house.as_(Role.READER, "other")
    answers = [await fast.get("/v1/brakes") for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert_problem(answers[-1], 429, "rate_limited")
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 10
    assert (await other.get("/v1/brakes")).status_code == 200


def test_a_bucket_fills_up_again_and_never_over() -> None:
    """Two at once, then one a second."""
    now = [0.0]
    bucket, token = Buckets(1.0, 2.0, clock=lambda: now[0]), uuid4()
    assert [bucket.take(token) for _ in range(3)] == [None, None, 1]
    now[0] = 1.0
    assert [bucket.take(token), bucket.take(token)] == [None, 1]
    now[0] = 100.0
    assert [bucket.take(token) for _ in range(3)] == [None, None, 1]


async def test_wrong_fields_are_listed_and_nothing_is_stored(house: House) -> None:
    """Every field that does not fit, unknown ones too."""
    agent = await house.as_(Role.AGENT)
    body: dict[str, Any] = {"type": "stripe.refund", "items": [], "run_id": "x", "color": "red"}
    told = assert_problem(
        await agent.post("/v1/operations", json=body, headers=KEY), 422, "invalid_request"
    )
    assert {error["field"] for error in told["errors"]} == {"items", "run_id", "color"}
    odd = await agent.get("/v1/proposals", params={"stat": "awaiting"})
    assert_problem(odd, 422, "invalid_request")


async def test_wrong_parameters_name_their_item_and_field(house: House) -> None:
    """`items[1].amount_minor`, so that a model can correct it."""
    agent = await house.as_(Role.AGENT)
    body = refund()
    body["items"].append({"charge": "ch_2", "amount_minor": "12", "currency": "usd"})
    told = assert_problem(await propose(agent, body), 422, "invalid_parameters")
    assert told["errors"][0]["field"] == "items[1].amount_minor"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"{", "invalid_input"),
        (b'{"type": "a", "type": "b"}', "invalid_input"),
        (b'{"type": "stripe.refund", "items": [{"amount_minor": 1.0}]}', "invalid_input"),
        (b'{"type": "stripe.refund", "items": [{"amount_minor": NaN}]}', "invalid_input"),
        (b"\xff", "invalid_input"),
        (b"[]", "invalid_request"),
        (b'{"type": "stripe.refund", "items": [{"a": "\\ud800"}]}', "invalid_request"),
        (b'{"type": "stripe.refund", "items": [{"charge": "\\u0000"}]}', "invalid_input"),
    ],
)
async def test_json_that_would_lose_meaning_is_refused(
    house: House, content: bytes, code: str
) -> None:
    """No floats, no repeated keys, no half characters."""
    agent = await house.as_(Role.AGENT)
    headers = {**KEY, "Content-Type": "application/json"}
    answer = await agent.post("/v1/operations", content=content, headers=headers)
    assert_problem(answer, 422, code)


async def test_a_body_over_eight_mebibytes_is_refused(house: House) -> None:
    """413, heard by the sender, also when it does not say the length beforehand."""
    agent = await house.as_(Role.AGENT)

    async def parts() -> AsyncIterator[bytes]:
        for _ in range(9):
            yield b" " * 1024 * 1024

    headers = {**KEY, "Content-Type": "application/json"}
    for content in (b" " * (8 * 1024 * 1024 + 1), parts()):
        answer = await agent.post("/v1/operations", content=content, headers=headers)
        assert_problem(answer, 413, "input_too_large")


async def test_another_media_type_is_refused(house: House) -> None:
    """A form can be sent by any page without asking; JSON can not."""
    agent = await house.as_(Role.AGENT)
    answer = await agent.post("/v1/operations", data={"type": "x"}, headers=KEY)
    assert_problem(answer, 415, "unsupported_media_type")


async def test_what_is_not_there_is_a_problem_too(house: House) -> None:
    """Unknown paths, ids that are none, unknown types and cursors."""
    admin = await house.as_(Role.ADMIN)
    assert_problem(await admin.get("/nothing"), 404, "not_found")
    assert_problem(await admin.get("/v1/proposals/7"), 404, "not_found")
    assert_problem(await admin.get(f"/v1/proposals/{uuid4()}"), 404, "unknown_proposal")
    assert_problem(await propose(admin, {"type": "x", "items": [{}]}), 422, "unknown_type")
    assert_problem(
        await admin.get("/v1/operations", params={"cursor": "abc"}), 422, "invalid_input"
    )
    assert_problem(await admin.get("/v1/audit", params={"cursor": "abc"}), 422, "invalid_input")


async def test_pages_follow_one_another_without_a_gap_or_a_repeat(house: House) -> None:
    """Proposals, operations and history, two lines a page."""
    agent, reader = await house.as_(Role.AGENT), await house.as_(Role.READER)
    for number in range(1, 6):
        await waiting(agent, refund(f"ch_{number}", 4000))
        await propose(agent, refund(f"ch_{number + 10}"))
    for client, path, key, name in (
        (reader, "/v1/proposals", "proposals", "id"),
        (agent, "/v1/proposals?state=awaiting", "proposals", "id"),
        (reader, "/v1/operations", "operations", "id"),
        (agent, "/v1/operations", "operations", "id"),
    ):
        seen: list[str] = []
        cursor: str | None = None
        while True:
            params = {"limit": 2} | ({} if cursor is None else {"cursor": cursor})
            page = (await client.get(path, params=params | dict(_query(path)))).json()
            seen += [line[name] for line in page[key]]
            cursor = page["cursor"]
            if cursor is None:
                break
        assert len(seen) == len(set(seen)) == (10 if path == "/v1/proposals" else 5), path
        assert seen == sorted(seen, reverse=True)


def _query(path: str) -> list[tuple[str, str]]:
    return [("state", "awaiting")] if "?" in path else []


async def test_the_history_is_searched_backwards_and_read_forwards(house: House) -> None:
    """By who and what, with cursors; and one operation's from its first event."""
    agent, reader = await house.as_(Role.AGENT), await house.as_(Role.READER)
    done = [(await propose(agent, refund(f"ch_{n}"))).json() for n in range(1, 4)]
    one = done[0]["operation_ids"][0]
    found = (await reader.get("/v1/audit", params={"kind": "authorized", "limit": 2})).json()
    assert [event["kind"] for event in found["events"]] == ["authorized"] * 2
    rest = await reader.get(
        "/v1/audit", params={"kind": "authorized", "limit": 2, "cursor": found["cursor"]}
    )
    assert [event["operation_id"] for event in rest.json()["events"]] == [one]
    assert rest.json()["cursor"] is None
    whole = (await reader.get("/v1/audit", params={"operation_id": one})).json()["events"]
    assert [event["seq"] for event in whole] == list(range(1, len(whole) + 1))
    assert whole[0]["kind"] == "authorized"
    nobody = await reader.get("/v1/audit", params={"actor": "person:nobody"})
    assert nobody.json()["events"] == []
    assert nobody.json()["checkpoint"] is None


async def test_a_brake_that_would_stop_nothing_is_refused(house: House) -> None:
    """A slip of the pen must not look like safety; what there is, is named."""
    operator = await house.as_(Role.OPERATOR, "ops")
    answer = await operator.put("/v1/brakes/type:stripe.refnd", json={"reason": "wrong list"})
    assert answer.json()["code"] == "invalid_request"
    assert "type:stripe.refund" in answer.json()["detail"]
    assert (await operator.get("/v1/brakes")).json()["brakes"] == []


async def test_a_brake_holds_what_the_policy_would_let_go(house: House) -> None:
    """It is taken in, not sent, and goes on when the brake is released."""
    operator, agent = await house.as_(Role.OPERATOR, "ops"), await house.as_(Role.AGENT)
    path = "/v1/brakes/type:stripe.refund"
    assert (await operator.put(path, json={"reason": "wrong list"})).json()[
        "set_by"
    ] == "person:ops"
    answer = await propose(agent, refund(), wait=1)
    assert (answer.status_code, answer.json()["result"]["status"]) == (202, "sending")
    assert await house.refunds() == 0
    ready = (await (await house.client()).get("/ready")).json()
    assert (ready["status"], ready["brakes"]) == ("degraded", 1)
    assert (await operator.delete(path)).json()["released"] is True
    assert (await operator.delete(path)).json()["released"] is False


async def test_metrics_count_answers_and_what_waits(house: House) -> None:
    """By the endpoint's path, never by an id."""
    agent, reader = await house.as_(Role.AGENT), await house.as_(Role.READER)
    proposal = await waiting(agent, refund(amount_minor=4000))
    told = (await reader.get("/metrics")).text
    assert 'path="/v1/proposals/{id}",status="200"' in told
    assert proposal["id"] not in told
    assert "outlive_awaiting 1.0" in told
    assert "outlive_workers 1.0" in told


async def test_the_description_is_complete(house: House) -> None:
    """Every endpoint, every status it may answer with examples, and the roles that may."""
    told = (await (await house.client()).get("/openapi.json")).json()
    assert told == document(ENDPOINTS)
    for endpoint in ENDPOINTS:
        described = told["paths"][endpoint.path][endpoint.method.lower()]
        statuses = {str(STATUS[code]) for code in codes_of(endpoint)}
        assert set(described["responses"]) == statuses | {str(s) for s in endpoint.answers}
        examples = {
            code
            for response in described["responses"].values()
            for code in response.get("content", {})
            .get("application/problem+json", {})
            .get("examples", {})
        }
        assert examples == set(codes_of(endpoint))
        if endpoint.takes_body and not endpoint.raw:
            example = described["requestBody"]["content"]["application/json"]["example"]
            endpoint.body.model_validate_json(json.dumps(example))


async def test_without_the_database_it_says_so_and_nothing_is_half_done(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """503 with a pause, also when asked whether it is ready; alive it is all the same."""
    reader = await house.as_(Role.READER)
    assert (await reader.get("/v1/brakes")).status_code == 200

    async def lost(*_: object, **__: object) -> None:
        raise DatabaseUnreachable("PostgreSQL did not answer")

    monkeypatch.setattr(house.system.ledger.pool, "rows", lost)
    monkeypatch.setattr(house.system.ledger.pool, "row", lost)
    answer = await reader.get("/v1/brakes")
    assert_problem(answer, 503, "database_unreachable")
    assert answer.headers["retry-after"] == "2"
    assert_problem(await reader.get("/ready"), 503, "not_ready")
    assert (await reader.get("/health")).status_code == 200


async def test_a_fault_of_ours_is_told_without_its_inside(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """500 with a stable code; what went wrong stands in the log alone."""
    reader = await house.as_(Role.READER)

    async def broken() -> None:
        raise RuntimeError("sk_live_secret in a message")

    monkeypatch.setattr(house.system.ledger.switches, "brakes", broken)
    answer = await reader.get("/v1/brakes")
    assert_problem(answer, 500, "unexpected")
    assert "secret" not in answer.text
