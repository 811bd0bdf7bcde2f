"""The table of endpoints: routes, role checks, OpenAPI and tests are derived from it.

A resource of its own adds its file's table here, and nothing else.
"""

from typing import Final

from sidecar.http import (
    audit,
    authorizations,
    brakes,
    decisions,
    escalations,
    evidence,
    health,
    operations,
    policy,
    proposals,
    runs,
    slack,
    tokens,
    webhooks,
)
from sidecar.http.endpoint import Table

ENDPOINTS: Final[Table] = (
    *operations.TABLE,
    *evidence.TABLE,
    *proposals.TABLE,
    *decisions.TABLE,
    *authorizations.TABLE,
    *escalations.TABLE,
    *brakes.TABLE,
    *policy.TABLE,
    *audit.TABLE,
    *tokens.TABLE,
    *runs.TABLE,
    *webhooks.TABLE,
    *slack.TABLE,
    *health.TABLE,
)
