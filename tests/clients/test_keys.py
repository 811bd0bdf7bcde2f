"""Idempotency keys: the same in every retry, and after a crash if they are kept."""

from pathlib import Path

import httpx
import pytest

from outlive_client import AsyncClient, KeyFile, Refused, Unreachable

ITEM = {"charge": "ch_1", "amount_minor": 1, "currency": "usd"}
STANDING = {
    "proposal": {"id": "p"},
    "result": {"ok": True, "status": "executed", "instruction": "Done."},
    "operation_ids": ["o"],
}


class Door:
    """A ledger that fails as told, then answers."""

    def __init__(self, *fails: int | type[Exception]) -> None:
        self.fails = list(fails)
        self.seen: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer a request."""
        self.seen.append(request)
        if not self.fails:
            return httpx.Response(201, json=STANDING)
        fail = self.fails.pop(0)
        if isinstance(fail, int):
            problem = {"code": "database_unreachable", "detail": "-"}
            return httpx.Response(fail, json=problem, headers={"Retry-After": "0"})
        raise fail("planted")

    @property
    def keys(self) -> list[str]:
        """The keys that came."""
        return [request.headers["idempotency-key"] for request in self.seen]

    def client(self, *, keys: KeyFile | None = None, patience_s: float = 30) -> AsyncClient:
        """A client that talks to it."""
        http = httpx.AsyncClient(base_url="http://ledger", transport=httpx.MockTransport(self))
        return AsyncClient(token="t", http=http, keys=keys, patience_s=patience_s)


async def test_a_retry_has_the_same_key_and_the_same_bytes() -> None:
    """Lost answers, overload and a database that is away: one request, several times."""
    door = Door(httpx.ReadTimeout, 503, 429, httpx.ConnectError)
    standing = await door.client().propose("stripe.refund", ITEM)
    assert standing.ended
    assert len(door.seen) == 5
    assert len(set(door.keys)) == 1
    assert len({request.content for request in door.seen}) == 1


async def test_two_requests_have_two_keys() -> None:
    """The same again without a key is another request: the ledger notices the repetition."""
    door = Door()
    await door.client().propose("stripe.refund", ITEM)
    await door.client().propose("stripe.refund", ITEM)
    assert len(set(door.keys)) == 2


async def test_who_gives_up_is_told_the_key_to_go_on_with() -> None:
    """Nobody knows whether it was taken in."""
    door = Door(*[httpx.ReadTimeout] * 50)
    with pytest.raises(Unreachable) as caught:
        await door.client(patience_s=0.5).propose("stripe.refund", ITEM)
    assert caught.value.key == door.keys[0]


@pytest.mark.parametrize("status", [401, 403, 409, 422])
async def test_a_refusal_is_not_repeated(status: int) -> None:
    """It is final, and has a code."""
    door = Door(status)
    with pytest.raises(Refused) as caught:
        await door.client().propose("stripe.refund", ITEM)
    assert (caught.value.status, caught.value.code) == (status, "database_unreachable")
    assert len(door.seen) == 1


async def test_kept_keys_survive_the_process(tmp_path: Path) -> None:
    """A new process that says the same finds the same key, until the end is known."""
    path = tmp_path / "keys"
    door = Door()
    await door.client(keys=KeyFile(path)).propose("stripe.refund", ITEM)
    await door.client(keys=KeyFile(path)).propose("stripe.refund", ITEM)
    other = {**ITEM, "amount_minor": 2}
    await door.client(keys=KeyFile(path)).propose("stripe.refund", other)
    KeyFile(path).forget("stripe.refund", [ITEM])
    await door.client(keys=KeyFile(path)).propose("stripe.refund", ITEM)
    first, again, of_other, after = door.keys
    assert first == again
    assert len({first, of_other, after}) == 3


def test_a_line_cut_off_by_a_crash_loses_only_itself(tmp_path: Path) -> None:
    """What was written before is read, and what comes after is kept."""
    path = tmp_path / "keys"
    key = KeyFile(path).key("stripe.refund", [ITEM])
    with path.open("ab") as file:
        file.write(b'{"abc": "de')
    assert KeyFile(path).key("stripe.refund", [ITEM]) == key
    other = KeyFile(path).key("stripe.cancel", [ITEM])
    assert KeyFile(path).key("stripe.cancel", [ITEM]) == other
