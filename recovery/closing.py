"""What is held back and will lapse is said in time: one question for each account."""

from typing import Final

from dispatcher.provider import OperationType
from ledger.postgres.ledger import Ledger
from recovery.words import explain

WITHIN_S: Final = 4 * 3600.0
"""How long before key windows end people are asked about what holds their operations back."""


async def ask_about_closing_windows(ledger: Ledger, kind: OperationType) -> int:
    """Ask about operations in doubt that a cap, brake or breaker holds back; how many accounts.

    The question names what holds them back, how many there are and what they are worth.
    """
    key = kind.capabilities.key
    if key is None:
        return 0
    rows = await ledger.pool.rows(
        "closing_windows", type=kind.name, window_s=key.window_s, within_s=WITHIN_S
    )
    accounts = {(row["provider"], row["account"]) for row in rows}
    for provider, account in sorted(accounts):
        own = [row for row in rows if (row["provider"], row["account"]) == (provider, account)]
        await ledger.escalations.open_account(
            provider,
            account,
            reason="WINDOWS_CLOSING",
            member=own[0]["first_id"],
            dossier={
                "why": explain("WINDOWS_CLOSING"),
                "held_back": [
                    {
                        "by": row["decision"],
                        "operations": row["operations"],
                        "amount_minor": row["amount_minor"],
                        "currency": row["currency"],
                        "first_sent_at": row["first_started_at"].isoformat(),
                    }
                    for row in own
                ],
            },
        )
    return len(accounts)
