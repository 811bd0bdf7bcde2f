"""Style, script and mark, each under an address that holds its content's hash: kept for a year."""

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

_KINDS: Final = MappingProxyType(
    {
        ".css": "text/css; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".svg": "image/svg+xml",
    }
)
PREFIX: Final = "/console/static"


@cache
def _known() -> Mapping[str, tuple[bytes, str]]:
    """Content and kind by address. The module's import of its neighbour is rewritten to match."""
    found = {
        file.name: file.read_bytes()
        for file in (files("sidecar.console") / "static").iterdir()
        if "." + file.name.rpartition(".")[2] in _KINDS
    }
    hashes = {name: _hashed(name, content) for name, content in found.items()}
    module = found["console.js"]
    module = module.replace(b"./idiomorph.js", f"./{hashes['idiomorph.js']}".encode())
    found["console.js"], hashes["console.js"] = module, _hashed("console.js", module)
    return MappingProxyType(
        {
            hashes[name]: (content, _KINDS["." + name.rpartition(".")[2]])
            for name, content in found.items()
        }
    )


@cache
def address(name: str) -> str:
    """Where a file is served."""
    stem, _, ending = name.rpartition(".")
    [found] = [each for each in _known() if each.startswith(stem + "-") and each.endswith(ending)]
    return f"{PREFIX}/{found}"


def _hashed(name: str, content: bytes) -> str:
    stem, _, ending = name.rpartition(".")
    return f"{stem}-{hashlib.sha256(content).hexdigest()[:16]}.{ending}"


async def serve(request: Request) -> Response:
    """A file, or nothing."""
    found = _known().get(request.path_params["name"])
    if found is None:
        return Response("not found", 404, media_type="text/plain")
    content, kind = found
    return Response(
        content,
        headers={"content-type": kind, "cache-control": "public, max-age=31536000, immutable"},
    )
