"""Where an unexpected error is written, without secrets, so that the screen needs no traceback."""

import os
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

_SECRETS: Final = (
    "STRIPE_API_KEY",
    "OUTLIVE_STRIPE_API_KEY",
    "OUTLIVE_DATABASE_URL",
    "OUTLIVE_STRIPE_WEBHOOK_SECRETS",
    "OUTLIVE_RESUME_SECRET",
    "OUTLIVE_WEBHOOK_SECRET",
    "OUTLIVE_SLACK_TOKEN",
    "OUTLIVE_SLACK_SIGNING_SECRET",
)
_HIDDEN: Final = "***"


def log_of(error: BaseException, arguments: Sequence[str]) -> Path:
    """Write the traceback to a file that only its owner can read; returns its path."""
    text = "".join(traceback.format_exception(error))
    told = without_secrets(f"outlive {' '.join(arguments)}\n{text}")
    name = f"outlive-{time.strftime('%Y%m%dT%H%M%S')}-"
    descriptor, path = tempfile.mkstemp(prefix=name, suffix=".log")
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(told)
    return Path(path)


def without_secrets(text: str) -> str:
    """The text without what the environment holds in confidence."""
    for name in _SECRETS:
        secret = os.environ.get(name)
        if not secret:
            continue
        text = text.replace(secret, _HIDDEN)
        password = _password(secret)
        if password:
            text = text.replace(password, _HIDDEN)
    return text


def _password(secret: str) -> str | None:
    try:
        return urlsplit(secret).password
    except ValueError:
        return None
