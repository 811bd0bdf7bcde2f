"""The table of pages. A page of its own adds its file's table here, and nothing else."""

from typing import Final

from sidecar.console.page import Table
from sidecar.console.pages import (
    approval,
    approval_change,
    approval_decide,
    approvals,
    audit,
    dashboards,
    dossier,
    dossier_answer,
    dossier_deeds,
    escalations,
    now,
    operation,
    operations,
    policy,
    runs,
    settings,
    together,
)

PAGES: Final[Table] = (
    *now.TABLE,
    *approvals.TABLE,
    *approval.TABLE,
    *approval_decide.TABLE,
    *approval_change.TABLE,
    *escalations.TABLE,
    *together.TABLE,
    *dossier.TABLE,
    *dossier_deeds.TABLE,
    *dossier_answer.TABLE,
    *policy.TABLE,
    *dashboards.TABLE,
    *audit.TABLE,
    *operations.TABLE,
    *operation.TABLE,
    *runs.TABLE,
    *settings.TABLE,
)
