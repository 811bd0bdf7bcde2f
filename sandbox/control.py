"""A client of the sandbox's control, for tests, demos and the command line."""

from types import TracebackType
from typing import Any, Self, cast

import httpx

Json = dict[str, Any]

TIMEOUT_S = 40.0
"""More than the longest wait that the control allows."""


class ControlError(Exception):
    """The control refused, or what was waited for did not come about."""


class Control:
    """One method per control; use it as a context, or call `aclose`."""

    def __init__(self, url: str) -> None:
        self._http = httpx.AsyncClient(base_url=url, timeout=TIMEOUT_S, trust_env=False)

    @classmethod
    async def find(cls, url: str) -> Self:
        """The control of the sandbox at an API address.

        Raises:
            ControlError: There is no sandbox at that address.
        """
        try:
            async with httpx.AsyncClient(timeout=TIMEOUT_S, trust_env=False) as http:
                known: Json = (await http.get(f"{url}/_sandbox")).raise_for_status().json()
        except (httpx.HTTPError, ValueError) as error:
            raise ControlError(f"no sandbox at {url}: {error}") from error
        if known.get("sandbox") != "outlive":
            raise ControlError(f"no sandbox at {url}")
        return cls(known["control"])

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def reset(self) -> None:
        """Begin again with an empty world."""
        await self._post("/reset")

    async def seed(self, **wanted: Any) -> dict[str, list[Json]]:
        """Create what is wanted, by kind; answers the objects, by kind."""
        return await self._post("/seed", **wanted)

    async def now(self) -> float:
        """The sandbox's time, in seconds since the epoch."""
        return float((await self._get("/clock"))["now"])

    async def advance(self, seconds: float) -> float:
        """Let `seconds` pass at once; answers the new time."""
        return float((await self._post("/clock", advance_s=seconds))["now"])

    async def set_clock(self, at: float) -> float:
        """Set the time, in seconds since the epoch."""
        return float((await self._post("/clock", at=at))["now"])

    async def switch(self, **values: Any) -> Json:
        """Change switches; without values, only read them."""
        return await self._post("/switches", **values)

    async def arm(self, name: str, /, **options: Any) -> str:
        """Arm a fault; answers its id."""
        return str((await self._post("/faults", name=name, **options))["id"])

    async def faults(self) -> list[Json]:
        """The armed faults, with how often each was used."""
        return await self._data("/faults")

    async def clear(self, fault: str | None = None) -> None:
        """Disarm one fault, or all; what they hold goes on."""
        await self._call("DELETE", f"/faults/{fault}" if fault else "/faults", {})

    async def release(self, fault: str) -> None:
        """Let the requests that a fault holds go on."""
        await self._post(f"/faults/{fault}/release")

    async def flush(self) -> None:
        """Bring about late effects and roll-backs now."""
        await self._post("/flush")

    async def journal(self) -> list[Json]:
        """Every effect that took place, in order."""
        return await self._data("/journal")

    async def requests(self) -> list[Json]:
        """Every request that arrived, in order."""
        return await self._data("/requests")

    async def wait(self, *, timeout_s: float = 10.0, **counts: Any) -> None:
        """Wait until `journal`, `requests`, `answered` or `deliveries` has so many entries.

        `fault` and `times` wait until that fault was used so often.

        Raises:
            ControlError: It did not come about in time.
        """
        await self._post("/wait", timeout_s=timeout_s, **counts)

    async def object(self, object_id: str) -> Json:
        """Any object, whichever realm it is in."""
        return await self._get(f"/objects/{object_id}")

    async def refund_by_hand(self, charge: str, **fields: Any) -> Json:
        """A person refunds in the dashboard, without a key."""
        return await self._post("/refunds", charge=charge, **fields)

    async def settle_refund(self, refund: str, status: str, reason: str | None = None) -> Json:
        """Move a refund to another status."""
        return await self._post(f"/refunds/{refund}/settle", status=status, reason=reason)

    async def settle_payout(self, payout: str, status: str) -> Json:
        """Move a payout to another status."""
        return await self._post(f"/payouts/{payout}/settle", status=status)

    async def wipe_metadata(self, object_id: str) -> Json:
        """A person removes all metadata of an object."""
        return await self._post(f"/objects/{object_id}/metadata", replace=True)

    async def edit_metadata(self, object_id: str, **metadata: str) -> Json:
        """A person sets some metadata of an object."""
        return await self._post(f"/objects/{object_id}/metadata", metadata=metadata)

    async def open_dispute(self, charge: str, **fields: Any) -> Json:
        """A bank disputes a charge."""
        return await self._post("/disputes", charge=charge, **fields)

    async def close_dispute(self, dispute: str, status: str) -> Json:
        """A bank decides a dispute: won, lost or warning_closed."""
        return await self._post(f"/disputes/{dispute}/close", status=status)

    async def set_account(self, account: str, **fields: Any) -> Json:
        """Change an account, for instance `charges_enabled=False`."""
        return await self._post(f"/accounts/{account}", **fields)

    async def add_key(self, secret: str, **fields: Any) -> Json:
        """Add an API key: `account`, `livemode`, `writes`, `reads`."""
        return await self._post("/keys", secret=secret, **fields)

    async def rotate_key(self, secret: str, new: str) -> Json:
        """Replace an API key; the old one expires at once."""
        return await self._post("/keys/rotate", secret=secret, new=new)

    async def add_webhook(self, url: str, **fields: Any) -> Json:
        """Register a webhook endpoint; answers it with its secret."""
        return await self._post("/webhooks", url=url, **fields)

    async def webhooks(self) -> Json:
        """Endpoints, deliveries and held events."""
        return await self._get("/webhooks")

    async def flush_webhooks(self, **how: Any) -> int:
        """Deliver held webhooks: `order`, `backwards`, `copies`."""
        return int((await self._post("/webhooks/flush", **how))["sent"])

    async def resend_webhook(self, event: str) -> Json:
        """Send one event again."""
        return await self._post("/webhooks/resend", event=event)

    async def _get(self, path: str) -> Json:
        return await self._call("GET", path, {})

    async def _data(self, path: str) -> list[Json]:
        return cast("list[Json]", (await self._get(path))["data"])

    async def _post(self, path: str, /, **body: Any) -> Json:
        return await self._call("POST", path, body)

    async def _call(self, method: str, path: str, body: Json) -> Json:
        answer = await self._http.request(method, f"/_control{path}", json=body or None)
        result: Json = answer.json()
        if answer.is_error:
            raise ControlError(f"{method} {path}: {result['error']['message']}")
        return result
