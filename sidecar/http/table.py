"""The table of endpoints: routes, role checks, OpenAPI and tests are derived from it.

A resource of its own adds its file's table here, and nothing else.
"""

from typing import Final

from sidecar.http import (
    answering,
    audit,
    authorizations,
    brakes,
    dashboards,
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
    trail,
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
    *answering.TABLE,
    *brakes.TABLE,
    *policy.TABLE,
    *audit.TABLE,
    *trail.TABLE,
    *dashboards.TABLE,
    *tokens.TABLE,
    *runs.TABLE,
    *webhooks.TABLE,
    *slack.TABLE,
    *health.TABLE,
)
