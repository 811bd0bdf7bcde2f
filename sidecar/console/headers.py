"""Headers of every answer of the console, whatever it is."""

from typing import Final

from starlette.responses import Response

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types outlive"
)
"""An escaping bug stays inert: nothing inline runs, nothing leaves this origin."""

_ALWAYS: Final = (
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    # Not `no-referrer`: forms would then send `Origin: null`, and could not be told from others'.
    # Source: https://fetch.spec.whatwg.org/#append-a-request-origin-header
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ("x-robots-tag", "noindex"),
)


def secured(response: Response, *, secure: bool) -> Response:
    """The answer with its headers; `no-store` unless it says something else."""
    for name, value in _ALWAYS:
        response.headers[name] = value
    response.headers.setdefault("cache-control", "no-store")
    if secure:
        response.headers["strict-transport-security"] = "max-age=31536000"
    return response
