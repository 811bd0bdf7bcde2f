"""Is the other side the sandbox? Only a handshake of its own tells, never a key's prefix."""

import asyncio
import json
from typing import Final, cast

import httpx

_LIMIT_S: Final = 3.0
_LIMIT_BYTES: Final = 4_096


async def is_sandbox(base_url: str) -> bool:
    """Ask `GET /_sandbox`, without any credential; anything but the right answer is a no."""
    transport = httpx.AsyncHTTPTransport(trust_env=False)
    try:
        async with asyncio.timeout(_LIMIT_S), transport:
            request = httpx.Request("GET", f"{base_url}/_sandbox")
            response = await transport.handle_async_request(request)
            body = bytearray()
            async for chunk in response.aiter_raw():
                body += chunk
                if len(body) > _LIMIT_BYTES:
                    break
            await response.aclose()
            found: object = json.loads(bytes(body))
    except (TimeoutError, httpx.HTTPError, httpx.InvalidURL, ValueError):
        return False
    if not response.is_success or not isinstance(found, dict):
        return False
    return cast("dict[str, object]", found).get("sandbox") == "outlive"
