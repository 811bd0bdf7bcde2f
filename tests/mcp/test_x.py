import json
from contextlib import AsyncExitStack
import pytest
from starlette.routing import Route
from sidecar.mcp.door import McpDoor, PATH
from tests.support.mcp_clients import *

@pytest.mark.parametrize("mode", GENERATIONS)
async def test_x(house, mode):
    door = McpDoor(house.serving.doors)
    house.serving._server.config.app.router.routes.append(Route(PATH, door))
    async with door.running():
        s = await secret_of(house)
        async with client(house, s, mode=mode) as c:
            ts = await c.list_tools()
            print(json.dumps([t.model_dump(mode="json", by_alias=True, exclude_none=True) for t in ts.tools])[:1500])
            r = await c.call_tool("stripe_refund", {"charge":"ch_1","amount_minor":1200,"currency":"usd"})
            print(r)
            r = await c.call_tool("stripe_refund", {"charge":"ch_1","amount_minor":1200,"currency":"usd"}, meta={"outlive/call-key":"zz"})
            print(r)
