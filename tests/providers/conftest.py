"""Adapters under test, opened and closed."""

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from dispatcher.providers.stripe import StripeType, stripe_types
from sandbox.control import Control
from sandbox.server import Server, running
from tests.providers.making import config

Open = Callable[..., tuple[StripeType, StripeType]]


@pytest.fixture
async def opened() -> AsyncIterator[Open]:
    """Opens the refund and the cancellation type for an address: `opened(url, call_s=1)`."""
    made: list[StripeType] = []

    def make(url: str, **values: Any) -> tuple[StripeType, StripeType]:
        refund, cancel = stripe_types(config(url, **values))
        made.append(refund)
        return refund, cancel

    yield make
    for kind in made:
        await kind.aclose()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    """A sandbox of its own for each test."""
    async with running() as started:
        yield started


@pytest.fixture
async def control(server: Server) -> AsyncIterator[Control]:
    """Its control."""
    async with server.control() as client:
        yield client


@pytest.fixture
async def refund(server: Server, control: Control, opened: Open) -> StripeType:
    """The refund type on a sandbox with charge `ch_1` of 50.00 USD."""
    await control.seed(charges=[{"id": "ch_1", "amount": 5_000, "payment_intent": "pi_1"}])
    return opened(server.url)[0]
