"""Where telemetry goes, from the environment. Nothing set: nothing leaves this machine."""

from typing import Any, Self

from pydantic import Field, PositiveFloat, SecretStr, ValidationError, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from telemetry.errors import BadTelemetrySettings


class TelemetrySettings(BaseSettings):
    """`OUTLIVE_TELEMETRY`, `OUTLIVE_CLICKHOUSE_URL`, `OUTLIVE_OTLP_…`, `OUTLIVE_LANGFUSE_…`."""

    model_config = SettingsConfigDict(
        env_prefix="OUTLIVE_", frozen=True, extra="ignore", populate_by_name=True
    )

    telemetry: bool = True
    """Off: no spans, no started records, no figures. Decisions are the same."""
    clickhouse_url: SecretStr | None = None
    """`http[s]://user:password@host:8123/database`; without it, the embedded one if installed."""
    otlp_url: str | None = None
    """A collector's HTTP address, e.g. `http://collector:4318`."""
    otlp_authorization: SecretStr | None = None
    """Its `authorization` header as it is; ClickStack wants its ingestion key without `Bearer`."""
    langfuse_url: str | None = None
    langfuse_public_key: str | None = None
    langfuse_secret_key: SecretStr | None = None
    telemetry_timeout_s: PositiveFloat = Field(default=2.0, le=10)
    """The most that one call to a back end may take."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        langfuse = (self.langfuse_url, self.langfuse_public_key, self.langfuse_secret_key)
        if any(langfuse) and not all(langfuse):
            raise ValueError(
                "OUTLIVE_LANGFUSE_URL, OUTLIVE_LANGFUSE_PUBLIC_KEY and "
                "OUTLIVE_LANGFUSE_SECRET_KEY belong together: set all or none"
            )
        return self


def load_telemetry(**given: Any) -> TelemetrySettings:
    """Read the settings of this process.

    Raises:
        BadTelemetrySettings: Naming each that can't be used, never its value.
    """
    try:
        return TelemetrySettings(**given)
    except ValidationError as error:
        told = "; ".join(
            ": ".join([*(f"OUTLIVE_{str(part).upper()}" for part in one["loc"]), one["msg"]])
            for one in error.errors()
        )
        raise BadTelemetrySettings(f"{told}. Correct it and start again.") from None
