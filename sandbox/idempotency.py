"""Idempotency keys, as Stripe's v1 API describes them.

A key belongs to one account and mode. The first request that uses it is remembered once its
endpoint has begun to execute; later ones get the same answer, or are refused if they differ.
Sources: https://docs.stripe.com/api/idempotent_requests,
https://docs.stripe.com/error-low-level#sending-idempotency-keys
"""

from dataclasses import dataclass, field

from sandbox import forms
from sandbox.errors import ApiError
from sandbox.switches import Part, Switches
from sandbox.wire import Request, Response

KEY_CHARS_MAX = 255


@dataclass(frozen=True, slots=True)
class Use:
    """What a request with a key is compared by."""

    key: str
    method: str
    path: str
    form: tuple[tuple[str, str], ...]
    version: str
    secret: str

    @classmethod
    def of(cls, request: Request, *, version: str, secret: str) -> "Use | None":
        """How `request` uses a key; None if it has none, or if its method pays no heed to one."""
        key = request.headers.get("idempotency-key")
        if request.method != "POST" or not key:
            return None
        if len(key) > KEY_CHARS_MAX:
            raise ApiError.invalid(f"Idempotency keys have at most {KEY_CHARS_MAX} characters.")
        form = forms.canonical(request.body.decode("utf-8", "replace"))
        return cls(key, request.method, request.path, form, version, secret)


@dataclass(slots=True)
class Memory:
    """The first request of a key and, once it has ended, its answer."""

    use: Use
    request_id: str
    first_seen: float
    answer: Response | None = None

    def pruned(self, now: float, switches: Switches) -> bool:
        """Whether the key has been removed by now, for its age."""
        return switches.keys_pruned and now - self.first_seen >= switches.key_retention_s


@dataclass(slots=True)
class KeyStore:
    """The keys of one account in one mode."""

    _memories: dict[tuple[str, ...], Memory] = field(default_factory=dict[tuple[str, ...], Memory])

    def begin(self, use: Use, *, request_id: str, now: float, switches: Switches) -> Memory:
        """Note that a request with this key executes, or return the memory of the first one.

        Raises:
            ApiError: 400 if the request differs from the first, 409 if that one still executes.
        """
        name = _name(use, switches)
        memory = self._memories.get(name)
        if memory is None or memory.pruned(now, switches):
            memory = self._memories[name] = Memory(use, request_id, now)
            return memory
        _compare(memory.use, use, switches)
        if memory.answer is None:
            raise ApiError(
                409,
                f"Another request with the idempotency key {use.key} is still being processed."
                " Please try again later.",
                code="idempotency_key_in_use",
            )
        return memory

    def forget(self, memory: Memory) -> None:
        """Drop what was noted: the endpoint never began to execute."""
        self._memories = {name: kept for name, kept in self._memories.items() if kept is not memory}


def _name(use: Use, switches: Switches) -> tuple[str, ...]:
    name = [use.key]
    if switches.version_in_key is Part.SCOPED:
        name.append(use.version)
    if switches.api_key_in_key is Part.SCOPED:
        name.append(use.secret)
    return tuple(name)


def _compare(first: Use, now: Use, switches: Switches) -> None:
    if (first.method, first.path) != (now.method, now.path):
        raise ApiError(
            400,
            "Keys for idempotent requests belong to one endpoint: this one was first used for"
            f" '{first.path}', not '{now.path}'. Use a key other than '{now.key}'.",
            kind="idempotency_error",
        )
    same = first.form == now.form
    if switches.version_in_key is Part.COMPARED:
        same = same and first.version == now.version
    if switches.api_key_in_key is Part.COMPARED:
        same = same and first.secret == now.secret
    if not same:
        raise ApiError(
            400,
            "Keys for idempotent requests can only be used with the same parameters as the first"
            f" time. Use a key other than '{now.key}' for a different request.",
            kind="idempotency_error",
        )
