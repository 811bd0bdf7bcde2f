"""The beginning of the story: an agent asks over HTTP, a person reads, and approves over HTTP."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import httpx

from ledger.model import Money
from sidecar import words
from sidecar.access.roles import Role
from sidecar.access.tokens import NewToken, Tokens
from sidecar.books import Books
from sidecar.demo.data import BATCH, KIND
from sidecar.demo.processes import DemoFailed, Processes
from sidecar.demo.stage import Stage
from sidecar.plain import plain

PERSON: Final = "amaia"
AGENT: Final = "refund-agent"
_KEY: Final = "november"
_WORDS: Final = "Customers of the cancelled November fair get their money back."
_ANSWER_S: Final = 30.0


@dataclass(frozen=True, slots=True)
class Asking:
    """An open door, and who may do what there."""

    run: Processes
    stage: Stage
    url: str
    agent: str
    """The secret of the agent's token, which can propose and not decide."""
    person: str
    """The secret of the person's token."""

    async def propose(self) -> Mapping[str, Any]:
        """A process of the agent asks for the batch, and ends; how the request stands.

        Raises:
            DemoFailed: It was not taken in.
        """
        said = await self.run.agent(
            *(self.url, self.agent), _KEY, KIND, _WORDS, batch=BATCH.read_bytes()
        )
        if said.exit_code:
            raise DemoFailed(f"the agent was answered: {said.errors}")
        standing: dict[str, Any] = json.loads(said.output)
        return standing

    async def decide(self, proposal_id: str) -> list[UUID]:
        """The person reads the preview, and approves what they read; the operations' ids.

        Raises:
            DemoFailed: The approval did not count.
        """
        async with httpx.AsyncClient(
            base_url=self.url,
            headers={"Authorization": f"Bearer {self.person}"},
            timeout=_ANSWER_S,
            trust_env=False,
        ) as person:
            read = (await person.get(f"/v1/proposals/{proposal_id}")).raise_for_status().json()
            self._show(read)
            named = {"version": read["version"], "digest": read["digest"]}
            path = f"/v1/proposals/{proposal_id}/approve"
            answer = await person.post(path, json={**named, "reason": "Checked with the fair."})
            if answer.is_error or answer.json()["taken"] != "approved":
                raise DemoFailed(f"the approval was answered: {answer.text}")
        count = len(read["item_list"])
        self.stage.tell(
            f"{PERSON} approves {count} refunds over HTTP, naming version {read['version']} and "
            f"digest {read['digest'][:12]}: those, and nothing else."
        )
        return [UUID(item["operation_id"]) for item in read["item_list"]]

    def _show(self, read: Mapping[str, Any]) -> None:
        """What a person reads: counted by the ledger, never by the agent."""
        seen = read["preview"]
        totals = ", ".join(_money(one, "total_minor") for one in seen["totals"])
        who = f"{seen['items']} items, {seen['recipients']} payments"
        self.stage.tell(f"{PERSON} reads: {plain(seen['title'])}, {totals} ({who})")
        for group in seen["groups"]:
            least, most = _money(group, "smallest_minor"), _money(group, "largest_minor")
            span = most if least == most else f"{least} to {most}"
            self.stage.tell(
                f"  {group['items']:3} of {span}, together {_money(group, 'total_minor')}"
            )
        undo = seen["undo"] or "It can't be undone."
        self.stage.tell(f"  {plain(undo)} The agent's own words: {plain(read['agent_words'])}")


@asynccontextmanager
async def open_door(run: Processes, books: Books, stage: Stage) -> AsyncGenerator[Asking]:
    """Start `outlive serve` as a process, and give the agent and the person a token each.

    Raises:
        DemoFailed: It did not start.
    """
    tokens = Tokens(books.ledger.pool)
    _, agent = await tokens.create(NewToken(AGENT, Role.AGENT, "demo"))
    _, person = await tokens.create(NewToken(PERSON, Role.APPROVER, "demo"))
    async with run.door() as url:
        stage.tell(f"The HTTP door is open at {url}/v1: an agent may ask there, a person decide.")
        yield Asking(run, stage, url, agent, person)


def _money(of: Mapping[str, Any], name: str) -> str:
    return words.money(Money(of[name], of["currency"]))
