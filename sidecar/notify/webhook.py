"""A generic signed webhook: everything that people are told, for programs."""

from collections.abc import Mapping

from ledger.model import Json
from ledger.postgres.outbox import Message
from sidecar.notify.news import News
from sidecar.notify.outbound import Outbound, sign


class WebhookCarrier:
    """Delivers news to one address, which the settings name."""

    def __init__(self, news: News, outbound: Outbound, *, url: str, secret: str) -> None:
        self._news = news
        self._outbound = outbound
        self._url = url
        self._secret = secret

    async def deliver(self, message: Message) -> Mapping[str, Json] | None:
        """Send it.

        Raises:
            Undelivered: It did not arrive.
        """
        data = await self._news.told(message)
        signed = sign(self._secret, message.id, message.event, data)
        return {"status": await self._outbound.post(self._url, signed)}
