"""One POST to somebody else's server: bounded in time and size, no redirects, signed."""

import asyncio
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final, Protocol
from uuid import UUID

import httpcore
from standardwebhooks.webhooks import Webhook

from ledger.model import Json
from ledger.postgres.outbox import Message
from sidecar.notify.addresses import Addresses, AddressRefused, CheckedBackend

CALL_S: Final = 10.0
"""Everything: name, connection, answer."""
ANSWER_MOST_BYTES: Final = 64 * 1024
"""Read so that the connection can be used again; what is longer is cut off."""
RETRY_AFTER_MOST_S: Final = 3_600.0


class Undelivered(Exception):
    """A message did not arrive. Not an error of ours: it is tried again, or given up."""

    def __init__(
        self, reason: str, *, again_s: float | None = None, for_good: bool = False
    ) -> None:
        super().__init__(reason)
        self.again_s = again_s
        """The receiver says when."""
        self.for_good = for_good


class Carrier(Protocol):
    """Delivers one kind of message."""

    async def deliver(self, message: Message) -> Mapping[str, Json] | None:
        """Deliver it, perhaps not for the first time; what the receiver said.

        Raises:
            Undelivered: It did not arrive.
        """
        ...


@dataclass(frozen=True, slots=True)
class Signed:
    """A body with the headers that prove whose it is (Standard Webhooks).

    Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
    """

    body: bytes
    headers: Mapping[str, str]


def sign(secret: str, message_id: UUID, event: str, data: Mapping[str, Json]) -> Signed:
    """Sign a message; its id is the same each time it is sent, so that receivers can tell.

    Raises:
        ValueError: The secret is not `whsec_…` in base64.
    """
    at = datetime.now(UTC)
    told = {"type": event, "timestamp": at.isoformat(), "data": dict(data)}
    body = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    return Signed(
        body.encode(),
        {
            "Content-Type": "application/json",
            "User-Agent": "outlive",
            "webhook-id": f"msg_{message_id}",
            "webhook-timestamp": str(int(at.timestamp())),
            "webhook-signature": Webhook(secret).sign(f"msg_{message_id}", at, body),
        },
    )


class Outbound:
    """Sends signed messages to addresses that are allowed."""

    def __init__(self, addresses: Addresses, *, context: ssl.SSLContext | None = None) -> None:
        self._addresses = addresses
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=context,
            max_connections=20,
            max_keepalive_connections=0,
            network_backend=CheckedBackend(addresses),
        )

    async def aclose(self) -> None:
        """Close every connection."""
        await self._pool.aclose()

    async def post(self, url: str, signed: Signed) -> int:
        """Send it; the status of a good answer.

        Raises:
            Undelivered: It was refused, or nobody can say whether it arrived.
        """
        try:
            self._addresses.check(url)
            async with asyncio.timeout(CALL_S):
                return await self._post(url, signed)
        except AddressRefused as error:
            raise Undelivered(str(error)) from error
        except TimeoutError:
            raise Undelivered(f"no answer within {CALL_S:g} s") from None
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
            raise Undelivered(f"{type(error).__name__}: {error}") from error
        except OSError as error:
            raise Undelivered(f"{type(error).__name__}: {error.strerror or error}") from error

    async def _post(self, url: str, signed: Signed) -> int:
        async with self._pool.stream(
            "POST", url, headers=list(signed.headers.items()), content=signed.body
        ) as response:
            headers = {
                k.decode("latin-1").lower(): v.decode("latin-1") for k, v in response.headers
            }
            read = 0
            async for part in response.aiter_stream():
                read += len(part)
                if read > ANSWER_MOST_BYTES:
                    break
            if HTTPStatus(200) <= response.status < HTTPStatus(300):
                return response.status
            raise Undelivered(
                f"answered {response.status}",
                again_s=retry_after_s(headers.get("retry-after")),
                for_good=response.status == HTTPStatus.GONE,
            )


def retry_after_s(told: str | None) -> float | None:
    """How long the receiver wants to be left alone; a date, or nonsense, is not heeded."""
    if told is None or not told.isascii() or not told.isdigit():
        return None
    return min(float(told[:9]), RETRY_AFTER_MOST_S)
