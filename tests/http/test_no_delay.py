"""Answers leave at once: nobody waits for a timer of the kernel's or of ours."""

import asyncio
import socket
from uuid import UUID

from ledger.ids import new_id
from ledger.postgres.ledger import Ledger
from sidecar.proposals.waiting import Of, Waits
from sidecar.serving import bound_socket
from tests.support.writes import query


async def test_an_answer_does_not_wait_for_an_acknowledgement() -> None:
    """Without TCP_NODELAY the body of an answer follows its head 40 ms later."""
    seen: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted = writer.get_extra_info("socket")
        seen.set_result(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    with bound_socket("127.0.0.1", 0) as bound:
        async with await asyncio.start_server(serve, sock=bound):
            _, writer = await asyncio.open_connection(*bound.getsockname())
            assert await seen != 0
            writer.close()
            await writer.wait_closed()


async def test_who_waits_for_what_this_process_ended_is_told_by_it(ledger: Ledger) -> None:
    """The next question to the database is an hour away."""
    waits = Waits(ledger.pool, every_s=3_600)
    wanted: UUID = new_id()
    waiting = asyncio.create_task(waits.until_ended(Of.PROPOSAL, wanted, most_s=30))
    await asyncio.sleep(0)
    assert waits.count == 1
    waits.ended(Of.PROPOSAL, wanted)
    async with asyncio.timeout(5):
        await waiting
    waits.close()
    for task in asyncio.all_tasks():
        if task.get_name() == "waiting reads":
            task.cancel()


async def test_a_connection_that_died_in_the_pool_is_replaced(ledger: Ledger) -> None:
    """It is asked for life only if it has something to say; one that was closed has."""
    [here] = await query(ledger, "SELECT pg_backend_pid() AS pid")
    async with await ledger.database.open() as other:
        await other.execute("SELECT pg_terminate_backend(%s, 5000)", [here["pid"]])
    [now] = await query(ledger, "SELECT pg_backend_pid() AS pid")
    assert now["pid"] != here["pid"]
