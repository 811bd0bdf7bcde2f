"""Guards of a restored backup and of the reverse sweep."""

from typing import Final

from tests.guards.removal import Removal

QUARANTINE: Final = "tests/recovery_live/test_quarantine.py::test_"
SWEEP: Final = "tests/recovery_live/test_sweep.py::test_"
HEART: Final = "tests/http/test_heart.py::test_"
OUTSIDE: Final = "tests/ledger/test_outside.py::test_"
RESTORED: Final = "ledger/postgres/migrations/0008_restored.sql"

RESTORING: Final = (
    Removal(
        "nothing leaves a restored backup",
        RESTORED,
        "WHEN EXISTS (SELECT FROM restorations WHERE released_at IS NULL) THEN 'quarantine'",
        "",
        QUARANTINE + "nothing_leaves_a_restored_backup",
    ),
    Removal(
        "what a restored backup holds is in doubt",
        "recovery/observe.py",
        'restored_at=row["restored_at"]',
        "restored_at=None",
        QUARANTINE + "what_was_never_sent_as_far_as_is_known_is_in_doubt",
    ),
    Removal(
        "a lost history's fences never come again",
        "ledger/postgres/sql/restoration_begin.sql",
        "SET fence = o.fence + 1000000,",
        "SET fence = o.fence + 1,",
        QUARANTINE + "a_sender_of_the_lost_history_holds_nothing",
    ),
    Removal(
        "released only when clean",
        "ledger/postgres/restoring.py",
        "        if found.reasons:\n",
        "        if False:\n",
        QUARANTINE + "it_is_released_only_when_clean[unclear]",
    ),
    Removal(
        "an older copy is told by its transactions",
        "ledger/postgres/outside.py",
        "mark.transaction >= standing.next_transaction",
        "False",
        OUTSIDE + "a_transaction_that_it_lacks_tells_an_older_copy",
    ),
    Removal(
        "other ledgers' markers",
        "recovery/reverse.py",
        "marker.ledger_id == ledger_id",
        "ledger_id",
        SWEEP + "other_ledgers_effects_are_none_of_ours",
    ),
    Removal(
        "a target with an unexplained effect is busy",
        RESTORED,
        "OR EXISTS (SELECT FROM escalations WHERE target = of_target AND closed_at IS NULL)",
        "",
        SWEEP + "its_target_is_busy_until_it_is_answered",
    ),
    Removal(
        "a door notices a restored backup",
        "sidecar/heart.py",
        "await watch_outside(system.ledger, settings)",
        "pass",
        HEART + "it_notices_a_backup_put_back_under_it",
    ),
    Removal(
        "a door's heart goes on after a fault",
        "sidecar/heart.py",
        "except Exception:",
        "except BlockingIOError:",
        HEART + "its_heart_goes_on_after_whatever_went_wrong",
    ),
)
