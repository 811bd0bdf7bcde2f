"""Guards of what a worker may take for known: ages, commits, late answers, and what is absent."""

from typing import Final

from tests.guards.removal import Removal

ATTEMPTS: Final = "tests/recovery/test_assess_attempts.py::test_"
LOOK: Final = "tests/recovery/test_assess_look.py::test_"
GATE: Final = "tests/ledger/test_gate.py::test_each_reason_stops_it"
LOSSES: Final = "tests/ledger/test_writer_losses.py::test_"
POLICY: Final = "tests/properties/test_policy.py::test_"
BEGIN: Final = "ledger/postgres/sql/begin_attempt.sql"
DOUBT_PY: Final = "recovery/doubt.py"

KNOWING: Final = (
    Removal(
        "age of a look-up, measured",
        "recovery/observe.py",
        "look_age_s=max(wall_s() - wall_began_s, boot.boot_s() - boot_began_s)",
        "look_age_s=0.0",
        "tests/recovery_live/test_look_age.py"
        "::test_the_longer_of_two_clocks_says_how_old_a_look_is",
    ),
    Removal(
        "age of a look-up, counted",
        "recovery/assess.py",
        "looked_at = now - timedelta(seconds=world.look_age_s)",
        "looked_at = now",
        ATTEMPTS + "a_look_that_began_too_early_does_not_show_what_has_settled_since",
    ),
    Removal(
        "a late answer raises the case version",
        "ledger/postgres/sql/record_answer.sql",
        "case_version = o.case_version + CASE WHEN j.held THEN 0 ELSE 1 END",
        "case_version = o.case_version",
        "tests/ledger/test_way_through.py::test_a_late_answer_moves_no_state",
    ),
    Removal(
        "an ambiguous commit is re-read under a lock",
        "ledger/postgres/events.py",
        'await connection.execute(sql("lock_operation"), {"id": operation_id})',
        "pass",
        LOSSES + "a_statement_that_outlives_its_connection_is_waited_for",
    ),
    Removal(
        "nothing sent that the provider has accepted",
        BEGIN,
        "WHEN o.reference IS NOT NULL THEN 'already_accepted'",
        "",
        GATE + "[already_accepted]",
    ),
    Removal(
        "attempts that are missing are ambiguous",
        DOUBT_PY,
        "if _history_incomplete(operation, world) or any(",
        "if any(",
        ATTEMPTS + "attempts_that_are_missing_count_as_ambiguous",
    ),
    Removal(
        "the window counts from the first attempt",
        DOUBT_PY,
        "return min(tried, default=None)",
        "return max(tried, default=None)",
        ATTEMPTS + "the_window_counts_from_the_first_attempt_that_is_not_proven_unsent",
    ),
    Removal(
        "foreign by identity",
        "recovery/sight.py",
        "return any(\n        effect.reference not in known and",
        "return any(\n        False and effect.reference not in known and",
        LOOK + "foreign_goes_by_identity_never_by_time",
    ),
    Removal(
        "trouble spoils absence",
        "recovery/sight.py",
        "if look.trouble is not None:",
        "if False:",
        LOOK + "trouble_spoils_everything_but_a_living_find",
    ),
    Removal(
        "a dead effect waits for the other attempts",
        "recovery/decide.py",
        'if case.settling:\n        return Decision(Action.WAIT, "SETTLING")',
        "if False:\n        pass",
        "tests/recovery/test_assess.py"
        "::test_a_dead_effect_does_not_end_the_operation_while_an_attempt_is_under_way",
    ),
    Removal(
        "a repetition is for a person",
        "ledger/policy.py",
        "if asked.repeats:",
        "if False:",
        POLICY + "what_repeats_or_is_unknown_is_never_approved_alone",
    ),
    Removal(
        "a batch's total counts, not its items",
        "ledger/policy.py",
        "sums[amount.currency] += amount.amount_minor",
        "sums[amount.currency] = amount.amount_minor",
        POLICY + "one_more_item_never_asks_fewer_people",
    ),
)
