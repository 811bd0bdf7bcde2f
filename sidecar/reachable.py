"""Whether anybody listens at an address, without asking or telling anything."""

import asyncio
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

_LIMIT_S: Final = 3.0
_PORTS: Final = {"http": 80, "https": 443}


async def answers(url: str) -> bool:
    """Whether a TCP connection can be had."""
    parts = urlsplit(url)
    try:
        async with asyncio.timeout(_LIMIT_S):
            _, writer = await asyncio.open_connection(
                parts.hostname, parts.port or _PORTS.get(parts.scheme, 443)
            )
    except (OSError, TimeoutError, ValueError):
        return False
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()
    return True
