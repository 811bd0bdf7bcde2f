"""Evidence over HTTP, and the figures of telemetry beside those of the door."""

from collections import Counter

from sidecar.access.roles import Role
from tests.support.house import House, propose, refund


async def test_evidence_is_one_timeline_with_its_gaps_named(house: House) -> None:
    """Without any trace store: the ledger's own, and what is missing."""
    agent, reader = await house.as_(Role.AGENT), await house.as_(Role.READER)
    [operation] = (await propose(agent, refund())).json()["operation_ids"]
    answer = await reader.get(f"/v1/operations/{operation}/evidence")
    assert answer.status_code == 200, answer.text
    told = answer.json()
    assert told["operation"] == operation
    assert {entry["source"] for entry in told["entries"]} == {"ledger", "attempts"}
    assert {gap["source"] for gap in told["gaps"]} == {"traces", "logs", "langfuse"}
    times = [entry["at_ns"] for entry in told["entries"]]
    assert times == sorted(times)


async def test_evidence_of_an_unknown_operation_is_a_404(house: House) -> None:
    """With the same code as the operation itself."""
    reader = await house.as_(Role.READER)
    answer = await reader.get("/v1/operations/01890a5d-ac96-774b-bcce-b302099a8057/evidence")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_operation")


async def test_metrics_hold_the_figures_of_telemetry_and_no_name_twice(house: House) -> None:
    """One page for Prometheus: requests, what waits, doubt by type, what was counted."""
    agent, reader = await house.as_(Role.AGENT), await house.as_(Role.READER)
    await propose(agent, refund())
    text = (await reader.get("/metrics")).text
    assert "outlive_http_requests_total{" in text
    assert "outlive_attempts_total{" in text
    assert "outlive_awaiting 0.0" in text
    names = Counter(line.split()[2] for line in text.splitlines() if line.startswith("# TYPE"))
    assert {name for name, count in names.items() if count > 1} == set()


async def test_an_operation_keeps_the_agents_trace(house: House) -> None:
    """Its own context is a child of the caller's `traceparent`: the same trace, another span."""
    agent = await house.as_(Role.AGENT)
    trace, span = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    agent.headers["traceparent"] = f"00-{trace}-{span}-01"
    [operation] = (await propose(agent, refund())).json()["operation_ids"]
    async with house.system.ledger.pool.connection() as connection:
        cursor = await connection.execute(
            "SELECT trace_context FROM operations WHERE id = %s", [operation]
        )
        row = await cursor.fetchone()
    assert row is not None
    assert row["trace_context"].split("-")[1] == trace
    assert row["trace_context"].split("-")[2] != span
