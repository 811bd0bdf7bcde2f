"""A client for agents: propose effects, wait for decisions, suspend and resume runs.

`Client` blocks, `AsyncClient` is for asyncio; otherwise they are the same.
"""

from outlive_client._async import AsyncClient
from outlive_client._sync import Client
from outlive_client.errors import OutliveError, Refused, Unreachable
from outlive_client.keys import KeyFile
from outlive_client.resuming import BadSignature, ResumeCall, verified
from outlive_client.values import Call, NewCall, Result, Run, RunState, Standing, Status

__all__ = [
    "AsyncClient",
    "BadSignature",
    "Call",
    "Client",
    "KeyFile",
    "NewCall",
    "OutliveError",
    "Refused",
    "Result",
    "ResumeCall",
    "Run",
    "RunState",
    "Standing",
    "Status",
    "Unreachable",
    "verified",
]
