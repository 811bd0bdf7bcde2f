"""The agent of the demo, a process of its own: it asks over HTTP, and holds no provider key.

Reads a batch from standard input and prints what it was answered. Asked for again under the same
key, the same batch finds what it made before.
"""

import json
import os
import sys

import httpx

from sidecar.proposals.batch import parse_batch

URL = "OUTLIVE_URL"
TOKEN = "OUTLIVE_TOKEN"  # noqa: S105  the name of a variable
_ANSWER_S = 30.0


def main() -> None:
    """Ask once; what the door answers goes to standard output, errors end the process."""
    key, kind, words = sys.argv[1:]
    batch = parse_batch(sys.stdin.buffer.read())
    answer = httpx.post(
        f"{os.environ[URL]}/v1/operations",
        json={"type": kind, "items": [dict(item) for item in batch.items], "words": words},
        headers={"Authorization": f"Bearer {os.environ[TOKEN]}", "Idempotency-Key": key},
        timeout=_ANSWER_S,
        trust_env=False,
    )
    if answer.is_error:
        sys.exit(f"{answer.status_code}: {answer.text}")
    json.dump(answer.json(), sys.stdout)


if __name__ == "__main__":
    main()
