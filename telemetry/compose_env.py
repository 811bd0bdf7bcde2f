"""Write the secrets of `docker-compose.yml`: `python telemetry/compose_env.py > .env`.

Each is drawn anew; nothing has a default in the open. Standard library only, so that it runs before
anything is installed.
"""

import secrets
import sys
from collections.abc import Mapping
from uuid import uuid4


def values() -> Mapping[str, str]:
    """A name for each secret, and a new value."""
    return {
        "POSTGRES_PASSWORD": secrets.token_hex(24),
        "LANGFUSE_DB_PASSWORD": secrets.token_hex(24),
        "CLICKHOUSE_PASSWORD": secrets.token_hex(24),
        "REDIS_PASSWORD": secrets.token_hex(24),
        "MINIO_PASSWORD": secrets.token_hex(24),
        "COLLECTOR_TOKEN": secrets.token_hex(24),
        "HYPERDX_SESSION_SECRET": secrets.token_hex(32),
        "LANGFUSE_SALT": secrets.token_hex(16),
        "LANGFUSE_NEXTAUTH_SECRET": secrets.token_hex(32),
        "LANGFUSE_ENCRYPTION_KEY": secrets.token_hex(32),
        "LANGFUSE_PUBLIC_KEY": f"pk-lf-{uuid4()}",
        "LANGFUSE_SECRET_KEY": f"sk-lf-{uuid4()}",
        "LANGFUSE_USER_PASSWORD": secrets.token_urlsafe(18),
    }


def main() -> None:
    """Print them as lines of an env file."""
    for name, value in values().items():
        sys.stdout.write(f"{name}={value}\n")


if __name__ == "__main__":
    main()
