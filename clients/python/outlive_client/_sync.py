"""The blocking client. Made from `_async.py` by `unasync.py`: do not change it here."""

import os
import random
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import httpx

from outlive_client.errors import Refused, Unreachable
from outlive_client.keys import KeyFile
from outlive_client.values import NewCall, Run, RunState, Standing

AGAIN = frozenset({429, 502, 503, 504})
"""Statuses after which the same request is sent again, under the same key."""
FINAL_CODES = frozenset({"provider_auth", "provider_error"})
"""Refusals among them that the same request would only meet again."""
PAUSE_MOST_S = 10.0
WAIT_MOST_S = 60
"""How long the ledger lets one request wait."""
CLAIM_S = 120

Items = Mapping[str, Any] | Sequence[Mapping[str, Any]]


class Client:
    """Talks to one ledger as one agent. Safe to repeat: a request keeps its key in all retries."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        patience_s: float = 60.0,
        keys: KeyFile | None = None,
        http: httpx.Client | None = None,
    ) -> None:
        """Get ready; nothing is sent.

        Args:
            url: The ledger's address; `OUTLIVE_URL` by default.
            token: The agent's token; `OUTLIVE_TOKEN` by default.
            patience_s: How long a request is repeated while there is no answer.
            keys: Where keys are kept, for agents that can't give run and tool call.
            http: A client of your own: for certificates, proxies, or tests.
        """
        base = url or os.environ.get("OUTLIVE_URL", "http://127.0.0.1:8787")
        secret = token or os.environ.get("OUTLIVE_TOKEN", "")
        self._own_http = http is None
        self._http = http or httpx.Client(base_url=base, timeout=httpx.Timeout(10, read=90))
        self._headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        self._patience_s = patience_s
        self._keys = keys

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections, unless they are yours."""
        if self._own_http:
            self._http.close()

    # ── effects ────────────────────────────────────────────────────────────────────────────

    def propose(
        self,
        type_: str,
        items: Items,
        *,
        words: str | None = None,
        key: str | None = None,
        call: tuple[str, str] | None = None,
        wait_s: int | None = None,
        traceparent: str | None = None,
    ) -> Standing:
        """Ask for an effect. What the policy approves is sent at once; the rest waits for a person.

        Args:
            type_: The operation type, e.g. `stripe.refund`.
            items: Parameters of one item, or a list of them that is decided as one.
            words: The agent's own reason; people read it as its words.
            key: Your name for this request: the same again finds what it made before.
            call: Instead of a key: the run's name and the tool call's id. A run that is suspended
                with this call later finds it.
            wait_s: How long to wait for the end; by default not for a person.
            traceparent: W3C trace context, kept with the operations.

        Raises:
            Refused: Nothing was stored.
            Unreachable: It is not known; say the same again under `error.key`.
        """
        batch = [items] if isinstance(items, Mapping) else list(items)
        body: dict[str, Any] = {"type": type_, "items": [dict(item) for item in batch]}
        if words is not None:
            body["words"] = words
        headers: dict[str, str] = {}
        if call is not None:
            body["run_key"], body["tool_call_id"] = call
        elif key is None:
            key = str(uuid4()) if self._keys is None else self._keys.key(type_, batch)
        if key is not None:
            headers["Idempotency-Key"] = key
        if traceparent is not None:
            headers["traceparent"] = traceparent
        told = self._send("POST", "/v1/operations", body, headers=headers, wait_s=wait_s)
        return Standing.of(told)

    def proposal(self, proposal_id: str, *, wait_s: int = 0) -> Standing:
        """How a request stands; waits for its end, at most so long."""
        return Standing.of(self._send("GET", f"/v1/proposals/{proposal_id}", wait_s=wait_s))

    def operation(self, operation_id: str, *, wait_s: int = 0) -> Standing:
        """How one operation of a request stands; waits for its end, at most so long."""
        return Standing.of(self._send("GET", f"/v1/operations/{operation_id}", wait_s=wait_s))

    def until_ended(self, standing: Standing, *, most_s: float) -> Standing:
        """Wait for the end of a request, at most so long; what stands then, ended or not.

        For minutes. For a person's decision, which takes days, suspend the run instead.
        """
        until_s = time.monotonic() + most_s
        while not standing.ended and (left_s := until_s - time.monotonic()) > 0:
            wait_s = min(WAIT_MOST_S, max(1, int(left_s)))
            standing = self.proposal(standing.proposal_id, wait_s=wait_s)
            newer = standing.as_json.get("superseded_by")
            if newer is not None:  # a person changed it: the newer version is what counts
                standing = self.proposal(newer)
        return standing

    def withdraw(self, proposal_id: str, reason: str) -> Standing:
        """Take a request back while nobody has decided.

        Raises:
            Refused: Somebody has (`decision_too_late`).
        """
        path = f"/v1/proposals/{proposal_id}/withdraw"
        told = self._send("POST", path, {"reason": reason})
        return Standing.of(told["proposal"])

    # ── runs ───────────────────────────────────────────────────────────────────────────────

    def suspend(
        self,
        run_key: str,
        *,
        checkpoint: Any,
        calls: Sequence[NewCall],
        steps_used: int,
        resume_url: str | None = None,
        generation: int = 0,
    ) -> Run:
        """Hand over a turn, and end the process; another one goes on after the decision.

        The same turn handed over again finds what stands.

        Args:
            run_key: The agent's own name for the run, the same in every turn.
            checkpoint: What the next process needs: messages, or where they are. At most 1 MiB.
            calls: Every tool call of the turn.
            steps_used: Of the run's budget; carried on.
            resume_url: Is called when the run may go on; without it, ask with `ready_runs`.
            generation: Of the claim that this turn was made under; 0 in the first turn.

        Raises:
            Refused: `run_fenced`: another process goes on with this run: stop.
        """
        body = {
            "run_key": run_key,
            "checkpoint": checkpoint,
            "calls": [call.as_json() for call in calls],
            "steps_used": steps_used,
            "resume_url": resume_url,
            "generation": generation,
        }
        return Run.of(self._send("POST", "/v1/runs", body))

    def run(self, run_id: str) -> Run:
        """How a run stands."""
        return Run.of(self._send("GET", f"/v1/runs/{run_id}"))

    def ready_runs(self) -> list[Run]:
        """Runs of this agent that may go on now, without their checkpoints."""
        told = self._send("GET", "/v1/runs", query={"state": RunState.READY.value})
        return [Run.of(run) for run in told["runs"]]

    def claim(
        self, run_id: str, *, by: str, generation: int | None = None, lease_s: int = CLAIM_S
    ) -> Run:
        """Go on with a run: its checkpoint, and the result of each call.

        Args:
            run_id: The run.
            by: Which process this is; the same one asking again gets the same claim.
            generation: The one that the resume call named.
            lease_s: For how long, without a word (`renew`); then another may claim it.

        Raises:
            Refused: `run_not_ready`, or `run_fenced`: another process goes on with it.
        """
        body = {"by": by, "generation": generation, "lease_s": lease_s}
        return Run.of(self._send("POST", f"/v1/runs/{run_id}/claim", body))

    def renew(self, run: Run, *, lease_s: int = CLAIM_S) -> None:
        """Say that this process still goes on with the run.

        Raises:
            Refused: `run_fenced`: another process has claimed it since: stop.
        """
        body = {"generation": run.generation, "lease_s": lease_s}
        self._send("POST", f"/v1/runs/{run.id}/renew", body)

    def resumed(self, run: Run) -> None:
        """Say that the run has gone on: the model has its results. Saying it twice is harmless.

        Raises:
            Refused: `run_fenced`: another process has claimed it since: stop.
        """
        self._send("POST", f"/v1/runs/{run.id}/resumed", {"generation": run.generation})

    # ── one request ────────────────────────────────────────────────────────────────────────

    def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        wait_s: int | None = None,
    ) -> dict[str, Any]:
        """Send until there is an answer, always the same bytes under the same key."""
        sent = {**self._headers, **(headers or {})}
        params = {**(query or {}), **({} if wait_s is None else {"wait": str(wait_s)})}
        request = self._http.build_request(method, path, json=body, headers=sent, params=params)
        until_s = time.monotonic() + self._patience_s
        pause_s = 0.2
        while True:
            after_s = pause_s * random.uniform(0.5, 1)  # noqa: S311  spreads load, hides nothing
            try:
                response = self._http.send(request)
            except httpx.TransportError as error:
                reason = type(error).__name__
            else:
                told = _told(response)
                if response.is_success:
                    return told
                code = told.get("code")
                if response.status_code not in AGAIN or code in FINAL_CODES:
                    raise Refused(response.status_code, told)
                reason = f"HTTP {response.status_code} {code or ''}".rstrip()
                after_s = max(after_s, _retry_after_s(response))
            if time.monotonic() + after_s > until_s:
                raise Unreachable(sent.get("Idempotency-Key"), reason)
            time.sleep(after_s)
            pause_s = min(2 * pause_s, PAUSE_MOST_S)


def _told(response: httpx.Response) -> dict[str, Any]:
    """What an answer says; nothing, where somebody in between has answered."""
    if "json" not in response.headers.get("content-type", ""):
        return {}
    told: dict[str, Any] = response.json()
    return told


def _retry_after_s(response: httpx.Response) -> float:
    try:
        return float(response.headers.get("retry-after", "0"))
    except ValueError:
        return 0.0
