"""Refusals in the shape that Stripe gives them.

Types and codes: https://docs.stripe.com/api/errors and https://docs.stripe.com/error-codes.
The wording of messages is ours.
"""

from typing import Any, Self

Json = dict[str, Any]


class ApiError(Exception):
    """An answer other than 200.

    `saved` says whether an idempotency key remembers it: only what happens after the endpoint
    has begun to execute is remembered (https://docs.stripe.com/api/idempotent_requests).
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "invalid_request_error",
        code: str | None = None,
        param: str | None = None,
        saved: bool = False,
        extra: Json | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.saved = saved
        self._fields: Json = {"message": message, "type": kind, "code": code, "param": param}
        if code is not None:
            page = code.replace("_", "-")
            self._fields["doc_url"] = f"https://docs.stripe.com/error-codes#{page}"
        self._fields.update(extra or {})

    @classmethod
    def invalid(cls, message: str, *, param: str | None = None, code: str | None = None) -> Self:
        """A request that is wrong in itself: refused before execution, so never saved."""
        return cls(400, message, code=code, param=param)

    @classmethod
    def refused(
        cls,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        extra: Json | None = None,
    ) -> Self:
        """A well-formed request that the state of things forbids: saved under its key."""
        return cls(400, message, code=code, param=param, saved=True, extra=extra)

    def body(self) -> Json:
        """The JSON document to send."""
        return {"error": {name: value for name, value in self._fields.items() if value is not None}}
