"""Guards of who may write, and of whether anything may leave at all."""

from typing import Final

from tests.guards.removal import Removal

DOUBT: Final = "tests/recovery_live/test_answers_in_doubt.py::test_"
BRAKES: Final = "tests/recovery_live/test_brakes.py::test_"
ESCALATIONS: Final = "tests/recovery_live/test_escalations.py::test_"
VERDICTS: Final = "tests/recovery_live/test_verdicts.py::test_"
LATER: Final = "tests/recovery_live/test_verdicts_later.py::test_"
WORKERS: Final = "tests/recovery_live/test_workers_live.py::test_"
GATE: Final = "tests/ledger/test_gate.py::test_each_reason_stops_it"
WAITING: Final = "tests/ledger/test_interleavings.py::test_"
CLOCKS: Final = "tests/recovery_live/test_clocks.py::test_"
BEGIN: Final = "ledger/postgres/sql/begin_attempt.sql"
DECIDE: Final = "recovery/decide.py"
FORMS: Final = "tests/cases/test_reports_of_forms.py::test_"
PERMITTED: Final = "tests/recovery_live/test_answers_permitted.py::test_"

SENDING: Final = (
    # Who may write.
    Removal(
        "fence on an answer",
        "ledger/postgres/sql/record_answer.sql",
        "coalesce(o.fence = t.fence AND o.state = 'sent', false)",
        "coalesce(o.state = 'sent', false)",
        "tests/ledger/test_way_through.py::test_a_late_answer_moves_no_state",
    ),
    Removal(
        "fence at the gate",
        BEGIN,
        "WHEN o.fence <> t.fence OR o.owner IS DISTINCT FROM t.owner THEN 'stale_fence'",
        "",
        GATE + "[stale_fence]",
    ),
    Removal(
        "fence on a decision",
        "ledger/postgres/sql/apply_decision.sql",
        "o.fence <> t.fence OR ",
        "",
        "tests/ledger/test_races.py::test_a_worker_that_lost_its_claim_cannot_write",
    ),
    Removal(
        "case version at the gate",
        BEGIN,
        "WHEN o.case_version <> t.case_version THEN 'stale_case'",
        "",
        WAITING + "what_is_learned_during_the_wait_counts",
    ),
    Removal(
        "case version on a decision",
        "ledger/postgres/sql/apply_decision.sql",
        "WHEN o.case_version <> t.case_version THEN 'stale_case' END",
        "END",
        VERDICTS + "something_learned_while_an_answer_is_verified_stops_it",
    ),
    Removal(
        "lock, then judge",
        BEGIN,
        "SELECT count(*) AS locks, ledger_now() AS at FROM locked",
        "SELECT 0 AS locks, statement_timestamp() AS at",
        WAITING + "an_authorization_that_ends_during_the_wait_has_ended",
    ),
    Removal(
        "who fences must have beaten himself",
        "ledger/postgres/sql/bury.sql",
        "AND me.beating_since <= clock.at",
        "AND me.beating_since <= clock.at + interval '1 hour'",
        WORKERS + "who_has_not_beaten_for_a_time_to_live_fences_nobody",
    ),
    # May it leave at all.
    Removal(
        "revocation at the gate",
        BEGIN,
        "WHEN o.revoked_at IS NOT NULL THEN 'revoked'",
        "",
        WAITING + "a_send_that_waits_for_a_revocation_stays",
    ),
    Removal(
        "expiry at the gate",
        BEGIN,
        "ELSE o.authorized_until END <= clock.at",
        "ELSE 'infinity' END <= clock.at",
        FORMS + "case_16_an_authorization_ends_between_decision_and_send",
    ),
    Removal(
        "nothing resent without a valid authorization",
        DECIDE,
        "lambda c: not c.authorized, _not_authorized_any_more",
        "lambda c: False, _not_authorized_any_more",
        PERMITTED + "an_authorization_that_ends_in_doubt_stops_a_resend",
    ),
    Removal(
        "digest of the stored bytes",
        BEGIN,
        "encode(sha256(o.request), 'hex') <> t.digest OR o.request_digest <> t.digest",
        "false",
        "tests/ledger/test_gate.py::test_other_bytes_than_approved_are_not_sent",
    ),
    Removal(
        "comparison of the bytes that leave",
        "dispatcher/providers/stripe/api.py",
        "if drift is not None:",
        "if drift is None:\n            pass\n        elif False:",
        "tests/providers/test_stripe_bytes.py::test_nothing_leaves_that_was_rewritten",
    ),
    Removal(
        "deadline at the first byte",
        "dispatcher/providers/stripe/api.py",
        "if deadline.passed:",
        "if False:",
        "tests/providers/test_stripe_first_byte.py"
        "::test_a_deadline_that_passes_while_connecting_lets_no_byte_leave",
    ),
    Removal(
        "nothing sent under an escalation (gate)",
        BEGIN,
        "WHEN o.escalated THEN 'escalation_open'",
        "",
        GATE + "[escalation_open]",
    ),
    Removal(
        "nothing sent under an escalation (decision)",
        DECIDE,
        "lambda c: c.unsent and c.escalated, _do(Action.HOLD",
        "lambda c: False, _do(Action.HOLD",
        ESCALATIONS + "nothing_is_sent_while_a_question_is_open",
    ),
    Removal(
        "nothing sent that was given up (gate)",
        BEGIN,
        "WHEN o.never_send THEN 'given_up'",
        "",
        GATE + "[given_up]",
    ),
    Removal(
        "nothing sent that was given up (decision)",
        DECIDE,
        "lambda c: c.given_up, _do(Action.WATCH",
        "lambda c: False, _do(Action.WATCH",
        DOUBT + "what_was_given_up_is_watched_and_never_sent",
    ),
    Removal(
        "lease at the gate",
        BEGIN,
        "WHEN o.lease_until <= clock.at THEN 'lease_over'",
        "",
        GATE + "[lease_over]",
    ),
    Removal(
        "one at a time on a target (gate)",
        BEGIN,
        "WHEN is_target_busy(o.target, o.id)",
        "WHEN false",
        "tests/ledger/test_way_through.py::test_one_target_is_sent_to_once_at_a_time",
    ),
    Removal(
        "one at a time on a target (decision)",
        "recovery/observe.py",
        'if row["busy"]:',
        "if False:",
        BRAKES + "a_target_in_doubt_is_left_alone",
    ),
    Removal(
        "brake and breaker at the gate",
        BEGIN,
        "ELSE stopped_by(o.provider, o.type, o.account, t.credential) END",
        "END",
        LATER + "send_again_is_stopped_by_a_brake_set_at_the_last_moment",
    ),
    Removal(
        "clocks of database and provider",
        "dispatcher/providers/stripe/base.py",
        "if deadline.clocks_disagree(self.api.skew_s):",
        "if False:",
        CLOCKS + "nothing_leaves_at_once_under_a_database_clock_hours_ahead",
    ),
)
