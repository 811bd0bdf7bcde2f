"""Strikes a process at a named step, from outside: the product has no hooks for tests.

Methods of the product's classes are wrapped; at the step that was asked for, the process sends
itself SIGKILL or SIGSTOP. Nothing is cleaned up, nothing is said: that is the point.
"""

import functools
import os
import signal
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any, Final

import ledger.postgres.escalations
from dispatcher.providers.stripe.api import StripeApi
from dispatcher.providers.stripe.refund import StripeRefund
from dispatcher.providers.stripe.subscription_cancel import StripeSubscriptionCancel
from dispatcher.providers.stripe.transport import Wire
from ledger.postgres.escalations import Escalations
from ledger.postgres.ledger import Ledger

SIGNALS: Final = {
    "kill": signal.SIGKILL,
    "restart": signal.SIGKILL,
    "stop": signal.SIGSTOP,
    "wake": signal.SIGSTOP,
}
"""How the victim ends, by the name of its end."""

Call = Callable[..., Awaitable[Any]]

_SENDING: Final = {
    "http11.send_request_headers.complete": "headers_written",
    "http11.send_request_body.complete": "body_written",
    "http11.receive_response_headers.complete": "answer_begun",
}
"""Moments of the call that changes something, by httpcore's trace events.

Source: https://www.encode.io/httpcore/extensions/#trace
"""


@dataclass(frozen=True, slots=True)
class Strike:
    """Where to strike, at the how manieth time, and how."""

    step: str
    turn: int
    signal: int


class Probe:
    """Counts how often each step is reached, and strikes where it was told to."""

    def __init__(self, strikes: Sequence[Strike]) -> None:
        self._signals = {(strike.step, strike.turn): strike.signal for strike in strikes}
        self._counts_calls = any(strike.step == "call" for strike in strikes)
        self._reached = Counter[str]()
        self._mutating = False
        """The call in flight changes something. One operation a case, so there is one call."""

    def install(self) -> None:
        """Wrap what the steps are named after."""
        self._around(Ledger, "apply_decision", "decide")
        self._around(Ledger, "begin_attempt", "gate")
        self._around(Ledger, "record_answer", "record")
        self._around(Escalations, "open", "ask")
        self._around(StripeRefund, "observe", "look")
        self._around(StripeSubscriptionCancel, "observe", "look")
        self._around(StripeApi, "get", "read")
        self._around_claim()
        self._inside_ask()
        self._around_trace()

    def reach(self, step: str) -> None:
        """Strike, if this is the step and the turn."""
        self._reached[step] += 1
        number = self._signals.get((step, self._reached[step]))
        if number is not None:
            os.kill(os.getpid(), number)

    def _around(self, owner: type, method: str, name: str) -> None:
        real: Call = getattr(owner, method)

        @functools.wraps(real)
        async def wrapped(*given: Any, **named: Any) -> Any:
            self.reach(f"{name}_before")
            result = await real(*given, **named)
            self.reach(f"{name}_after")
            return result

        put(owner, method, wrapped)

    def _around_claim(self) -> None:
        """Claims that found nothing do not count, or time would decide which one it is."""
        real = Ledger.claim

        @functools.wraps(real)
        async def wrapped(*given: Any, **named: Any) -> Any:
            self.reach("claim_before")
            self._count_calls()
            claimed = await real(*given, **named)
            if claimed:
                self.reach("claim_after")
            return claimed

        put(Ledger, "claim", wrapped)

    def _inside_ask(self) -> None:
        """Between the two statements of the transaction that opens a question."""
        module = ledger.postgres.escalations
        real: Call = module.apply_write

        async def wrapped(*given: Any, **named: Any) -> None:
            await real(*given, **named)
            if self._reached["ask_before"] > self._reached["ask_after"]:
                self.reach("ask_inside")

        put(module, "apply_write", wrapped)

    def _around_trace(self) -> None:
        real = Wire._trace  # pyright: ignore[reportPrivateUsage]

        async def wrapped(wire: Wire, event: str, info: Any) -> None:
            first = event == "http11.send_request_headers.started"
            if first:
                self._mutating = info["request"].method != b"GET"
                if self._mutating:
                    self.reach("guard_before")
            await real(wire, event, info)
            if first and self._mutating:
                self.reach("guard_after")
            elif self._mutating and event in _SENDING:
                self.reach(_SENDING[event])

        put(Wire, "_trace", wrapped)

    def _count_calls(self) -> None:
        """From the first claim on, the moments before and after every call into C count too.

        Every system call of the process is made by one of them, so that a number stands for a
        place between two system calls.
        """
        if not self._counts_calls or self._reached["claim_before"] > 1:
            return

        def profile(_frame: FrameType, event: str, _what: object) -> None:
            if event.startswith("c_"):
                self.reach("call")

        sys.setprofile(profile)


def put(owner: object, name: str, value: object) -> None:
    """Replace something of the product, as far as this process is concerned."""
    setattr(owner, name, value)
