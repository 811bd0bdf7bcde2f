"""Settings: from the environment, checked at start, each named in its error."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Final, Self
from urllib.parse import urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict
from pydantic import (
    AliasChoices,
    Field,
    PositiveInt,
    SecretStr,
    ValidationError,
    model_validator,
)
from pydantic import field_validator as validator
from pydantic_settings import BaseSettings, SettingsConfigDict
from standardwebhooks.webhooks import EmptyWebhookSecretError, Webhook

from dispatcher.timing import Timing
from ledger.errors import OutliveError
from recovery.limits import Limits
from sidecar.notify.addresses import Addresses

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
_ALMOST: Final = 0.9
"""How alike two names are that differ in a letter or two."""
_IDENTITY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class BadSettings(OutliveError):
    """A setting is missing or makes no sense; named in the message."""

    code = "bad_settings"


class Settings(BaseSettings):
    """What a process of Outlive is told. `OUTLIVE_…`, and `STRIPE_API_KEY` as Stripe calls it."""

    model_config = SettingsConfigDict(
        env_prefix="OUTLIVE_", frozen=True, extra="ignore", populate_by_name=True
    )

    home: Path = Path(".outlive")
    """State of this installation: the embedded engine, identities, keys."""
    database_url: SecretStr | None = None
    """A PostgreSQL server; without it, the embedded one in `home` is used."""
    pgbouncer: bool = False
    """The database is reached through PgBouncer in transaction mode."""

    stripe_api_key: Annotated[
        SecretStr | None,
        Field(validation_alias=AliasChoices("STRIPE_API_KEY", "OUTLIVE_STRIPE_API_KEY")),
    ] = None
    stripe_url: str = "https://api.stripe.com"
    stripe_ca_file: Path | None = None
    processing_margin_s: Positive = 180
    """Shorter than 180 is refused unless the provider is the sandbox."""
    key_retention_s: Positive = 86_400
    retry_first_s: Positive = 30
    """First pause before a resend or another look; other than 30 only with the sandbox."""

    identity: str = "sidecar"
    """Which worker this is, on this host: a restart under the same name takes over at once."""
    send_budget_s: Positive = 5
    call_s: Positive = 30
    tcp_user_timeout_s: Positive = 30
    lease_s: Positive = 90
    heartbeat_s: Positive = 3
    heartbeat_ttl_s: Positive = 10

    resends_per_hour: PositiveInt = 60
    resent_minor_per_hour: PositiveInt = 1_000_000
    reads_per_s: Positive = 20
    reads_burst: PositiveInt = 40

    http_host: str = "127.0.0.1"
    http_port: Annotated[int, Field(ge=0, le=65_535)] = 8787
    """0: any free one."""
    http_hosts: str = ""
    """Further names under which `serve` is addressed, with commas between: `outlive.example.com`.
    Requests to any other name are refused."""
    http_rate_per_s: Positive = 50
    """Requests a second for each token, lasting; `http_rate_burst` at once."""
    http_rate_burst: PositiveInt = 200
    policy_file: Path | None = None
    """What the policy may approve; by default `policy.toml` in `home`, if there is one."""
    stripe_webhook_secrets: SecretStr = SecretStr("")
    """Signing secrets (`whsec_…`) with commas between: during a roll the old one counts too."""

    public_url: str | None = None
    """Where people reach the console, for links in messages: `https://outlive.example.com`."""
    stripe_dashboard_url: str = "https://dashboard.stripe.com"
    """Pages of charges and refunds, linked from the console; never with the sandbox."""
    clickstack_url: str | None = None
    """ClickStack's pages, linked from the console: `https://clickstack.example.com`."""
    langfuse_project_url: str | None = None
    """The project's page in Langfuse, linked likewise: `https://langfuse.example.com/project/ID`."""
    resume_hosts: str = ""
    """Where agents may be called when their run is ready, with commas between: a host means HTTPS
    (`agents.example.com`), else name the origin (`http://agents.internal:8080`)."""
    resume_networks: str = ""
    """Private networks that such calls may go into, with commas between: `10.1.0.0/16`."""
    resume_secret: SecretStr | None = None
    """Signs those calls (Standard Webhooks, `whsec_…`)."""
    webhook_url: str | None = None
    """Gets all news, signed with `webhook_secret` (`whsec_…`)."""
    webhook_secret: SecretStr | None = None
    slack_token: SecretStr | None = None
    """A bot's token (`xoxb-…`) with `chat:write`; messages go to `slack_channel`."""
    slack_channel: str | None = None
    slack_signing_secret: SecretStr | None = None
    """Verifies what Slack sends when a button is pressed."""
    slack_url: str = "https://slack.com/api/"
    page_again_s: Positive = 900
    """How often people are reminded of a question that nobody is on."""

    signing_key_file: Path | None = None
    """Signs checkpoints; by default `checkpoint.pem` in `home`, made when it is first needed."""
    anchor_file: Path | None = None
    """Gets a line for each checkpoint; by default `checkpoints.jsonl` in `home`."""
    checkpoint_every_s: Positive = 3_600

    @validator("database_url")
    @classmethod
    def _an_address(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            url = value.get_secret_value()
            if not url.startswith(("postgresql://", "postgres://")):
                raise ValueError("use an address like postgresql://user:password@host/database")
            try:
                ports = str(conninfo_to_dict(url).get("port", "")).split(",")
            except (psycopg.ProgrammingError, ValueError):
                ports = ["?"]
            if not all(port.isdigit() for port in ports if port):
                raise ValueError("it can't be read as an address of PostgreSQL")
        return value

    @validator("stripe_url")
    @classmethod
    def _sealed(cls, value: str) -> str:
        address = urlsplit(value)
        if address.scheme == "http" and (address.hostname or "").endswith("stripe.com"):
            raise ValueError("use https: the key would travel in clear text")
        return value

    @validator("stripe_dashboard_url", "clickstack_url", "langfuse_project_url")
    @classmethod
    def _a_page(cls, value: str | None) -> str | None:
        if value is None:
            return None
        address = urlsplit(value)
        if address.scheme not in {"http", "https"} or not address.hostname:
            raise ValueError("use an address like https://host/path")
        if address.query or address.fragment or address.username is not None:
            raise ValueError("use an address without a user, `?` and `#`")
        return value.rstrip("/")

    @validator("identity")
    @classmethod
    def _plain(cls, value: str) -> str:
        if not _IDENTITY.fullmatch(value):
            raise ValueError("use letters, digits, dot, dash and underscore, at most 64")
        return value

    @validator("resume_secret", "webhook_secret")
    @classmethod
    def _signs(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            try:
                Webhook(value.get_secret_value())
            except (ValueError, EmptyWebhookSecretError):
                raise ValueError("use a secret like whsec_ and 24 to 64 bytes in base64") from None
        return value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        _ = self.resume_addresses
        if (self.webhook_url is None) != (self.webhook_secret is None):
            raise ValueError("webhook_url and webhook_secret go together")
        if (self.slack_token is None) != (self.slack_channel is None):
            raise ValueError("slack_token and slack_channel go together")
        return self

    @property
    def resume_addresses(self) -> Addresses:
        """Where agents may be called; nowhere without a secret to sign with."""
        hosts = () if self.resume_secret is None else _parts(self.resume_hosts)
        return Addresses.of(hosts, _parts(self.resume_networks))

    @property
    def policy(self) -> Path | None:
        """The policy file; `None` where there is none: then every effect is for a person."""
        usual = self.home / "policy.toml"
        return self.policy_file or (usual if usual.exists() else None)

    @property
    def webhook_secrets(self) -> tuple[str, ...]:
        """Stripe's signing secrets, the newest first."""
        return _parts(self.stripe_webhook_secrets.get_secret_value())

    @property
    def own_names(self) -> frozenset[str]:
        """Names under which the HTTP server may be addressed."""
        usual = ("localhost", "127.0.0.1", "[::1]", self.http_host)
        return frozenset(name.lower() for name in (*usual, *_parts(self.http_hosts)))

    @property
    def signing_key(self) -> Path:
        """The file of the key that signs checkpoints."""
        return self.signing_key_file or self.home / "checkpoint.pem"

    @property
    def anchor(self) -> Path:
        """The file outside PostgreSQL that checkpoints are copied to."""
        return self.anchor_file or self.home / "checkpoints.jsonl"

    @property
    def mark(self) -> Path:
        """The file outside PostgreSQL that says which ledger this is, and how far it has come."""
        return self.home / "ledger.json"

    @property
    def timing(self) -> Timing:
        """The times of a send."""
        return Timing(
            send_budget_s=self.send_budget_s,
            call_s=self.call_s,
            tcp_user_timeout_s=self.tcp_user_timeout_s,
            lease_s=self.lease_s,
            heartbeat_s=self.heartbeat_s,
            heartbeat_ttl_s=self.heartbeat_ttl_s,
        )

    @property
    def limits(self) -> Limits:
        """The bounds of automatic acts."""
        return Limits(
            resends_per_hour=self.resends_per_hour,
            resent_minor_per_hour=self.resent_minor_per_hour,
            reads_per_s=self.reads_per_s,
            reads_burst=self.reads_burst,
        )


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


@dataclass(frozen=True, slots=True)
class Shortened:
    """A time that only the sandbox allows."""

    name: str
    value: float
    usual: float


def shortened(settings: Settings) -> list[Shortened]:
    """The times that differ from what a real provider needs."""
    return [
        Shortened(name, value, usual)
        for name, value, usual in (
            ("OUTLIVE_PROCESSING_MARGIN_S", settings.processing_margin_s, 180.0),
            ("OUTLIVE_KEY_RETENTION_S", settings.key_retention_s, 86_400.0),
            ("OUTLIVE_RETRY_FIRST_S", settings.retry_first_s, 30.0),
        )
        if value != usual
    ]


def load(**given: Any) -> Settings:
    """Read the settings of this process.

    Raises:
        BadSettings: Naming each setting that can't be used, never its value.
    """
    _refuse_misspelt(os.environ)
    try:
        return Settings(**given)
    except ValidationError as error:
        told = "; ".join(
            f"{_name(problem['loc'])}: {problem['msg'].removeprefix('Value error, ')}"
            for problem in error.errors()
        )
        raise BadSettings(f"{told}. Correct it and start again.") from None


def _refuse_misspelt(names: Iterable[str]) -> None:
    """Refuse a name that is almost a setting's: passed over, it would change what is done.

    Other names with our prefix are none of our business: clients, telemetry and orchestrators
    have theirs.
    """
    known = [_name((field,)) for field in Settings.model_fields]
    for name in (name.upper() for name in names):
        if not name.startswith("OUTLIVE_") or name in {*known, "OUTLIVE_STRIPE_API_KEY"}:
            continue
        meant = get_close_matches(name, known, n=1, cutoff=_ALMOST)
        if meant:
            raise BadSettings(f"{name} is no setting; {meant[0]} is. Correct it and start again.")


def _name(where: tuple[int | str, ...]) -> str:
    name = str(where[0]) if where else "settings"
    return name if name.isupper() else f"OUTLIVE_{name.upper()}"
