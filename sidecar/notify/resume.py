"""Call an agent: its run is ready, or a truth that it was told would follow.

The call holds no results: the agent claims the run, and gets checkpoint and results with the claim.
Whoever is called twice, or late, finds that out when claiming.
"""

from collections.abc import Mapping

from ledger.model import Json
from ledger.postgres.outbox import Message
from ledger.runs import RunState
from sidecar.notify.news import News
from sidecar.notify.outbound import Outbound, Undelivered, sign


class ResumeCarrier:
    """Delivers to the address that the run was suspended with."""

    def __init__(self, news: News, outbound: Outbound, *, secret: str | None) -> None:
        self._news = news
        self._outbound = outbound
        self._secret = secret

    async def deliver(self, message: Message) -> Mapping[str, Json] | None:
        """Send it, unless the run has moved on.

        Raises:
            Undelivered: It did not arrive.
        """
        run = await self._news.run(message.subject)
        if run.resume_url is None or self._secret is None:
            raise Undelivered("there is no resume address, or no OUTLIVE_RESUME_SECRET")
        if message.event == "run.ready" and (
            run.state is not RunState.READY or run.generation + 1 != message.payload["generation"]
        ):
            return {"skipped": run.state.value}
        data = await self._news.told(message)
        signed = sign(self._secret, message.id, message.event, data)
        return {"status": await self._outbound.post(run.resume_url, signed)}
