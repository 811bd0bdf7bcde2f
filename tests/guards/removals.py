"""Every guard of the promise: how it is taken out, and the test that must then fail.

A removal is the smallest change of one file that takes the guard away: a text, and what stands
in its place. Where a guard stands twice (in the decision and in the gate), each is removed alone.
"""

from dataclasses import dataclass
from typing import Final

ANSWERS: Final = "tests/recovery_live/test_answers.py::test_"
DOUBT: Final = "tests/recovery_live/test_answers_in_doubt.py::test_"
BRAKES: Final = "tests/recovery_live/test_brakes.py::test_"
ESCALATIONS: Final = "tests/recovery_live/test_escalations.py::test_"
VERDICTS: Final = "tests/recovery_live/test_verdicts.py::test_"
LATER: Final = "tests/recovery_live/test_verdicts_later.py::test_"
WORKERS: Final = "tests/recovery_live/test_workers_live.py::test_"
CASES: Final = "tests/cases/test_reports.py::test_case_"
GATE: Final = "tests/ledger/test_gate.py::test_each_reason_stops_it"
WAITING: Final = "tests/ledger/test_interleavings.py::test_"
WRITES: Final = "tests/ledger/test_interleavings_of_writes.py::test_"
ASSESS: Final = "tests/recovery/test_assess.py::test_"
BYTES: Final = "tests/providers/test_stripe_first_byte.py::test_"
OBSERVE: Final = "tests/providers/test_stripe_observe.py::test_"

THE_WAY: Final = (
    "tests/recovery_live/test_answers_stripe.py"
    "::test_a_spoilt_answer_after_the_effect_is_found_out[reset]"
)
"""The natural way, from authorizing to confirming: it passes without any of the guards."""

BEGIN: Final = "ledger/postgres/sql/begin_attempt.sql"
DECIDE: Final = "recovery/decide.py"
DOUBT_PY: Final = "recovery/doubt.py"


@dataclass(frozen=True, slots=True)
class Removal:
    """One guard, how it goes, and who notices."""

    guard: str
    file: str
    old: str
    new: str
    caught_by: str
    """A test, as pytest names it."""
    stops_all: bool = False
    """Another guard stops everything without this one; else the natural way stays open."""


REMOVALS: Final = (
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
        CASES + "16_an_authorization_ends_between_decision_and_send",
    ),
    Removal(
        "nothing resent without a valid authorization",
        DECIDE,
        "lambda c: not c.authorized, _not_authorized_any_more",
        "lambda c: False, _not_authorized_any_more",
        DOUBT + "an_authorization_that_ends_in_doubt_stops_a_resend",
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
        BYTES + "nothing_leaves_that_was_rewritten",
    ),
    Removal(
        "deadline at the first byte",
        "dispatcher/providers/stripe/api.py",
        "if deadline.passed:",
        "if False:",
        BYTES + "a_deadline_that_passes_while_connecting_lets_no_byte_leave",
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
        "one at a time on a target (gate)",
        BEGIN,
        "AND NOT x.never_send AND (x.in_doubt OR x.escalated))",
        "AND false)",
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
    # After doubt.
    Removal(
        "settle time (decision)",
        DECIDE,
        'lambda c: c.settling, _do(Action.WAIT, "SETTLING")',
        'lambda c: False, _do(Action.WAIT, "SETTLING")',
        ANSWERS + "what_never_arrived_is_sent_again_only_after_it_has_settled",
    ),
    Removal(
        "settle time (gate)",
        BEGIN,
        "WHEN o.in_doubt AND o.settled_at > clock.at THEN 'not_settled'",
        "",
        GATE + "[not_settled]",
    ),
    Removal(
        "sticky doubt (class)",
        DOUBT_PY,
        "any(_may_have_acted(a) for a in attempts):",
        "any(_may_have_acted(a) for a in attempts[-1:]):",
        ASSESS + "a_refusal_that_does_not_speak_for_all_attempts_clears_no_doubt",
    ),
    Removal(
        "sticky doubt (answer)",
        "dispatcher/conclude.py",
        "case Outcome.REFUSED if doubtful or capabilities.target_state:",
        "case Outcome.REFUSED if capabilities.target_state:",
        ANSWERS + "doubt_outlives_an_ordinary_refusal",
    ),
    Removal(
        "an attempt without an answer is ambiguous",
        DOUBT_PY,
        "if answer is None or answer.in_use",
        "if answer is None:\n        return False\n    if answer.in_use",
        ASSESS + "the_first_class_that_holds_over_all_attempts",
    ),
    Removal(
        "key window",
        DOUBT_PY,
        "now - start >= timedelta(seconds=key.window_s)",
        "False",
        CASES + "09_a_key_reused_after_a_day_would_act_anew",
    ),
    Removal(
        "credential's fingerprint",
        DOUBT_PY,
        "if strange and not key.spans_credentials:",
        "if False:",
        DOUBT + "a_key_may_be_unknown_under_another_credential",
    ),
    Removal(
        "key verdict only inside the window",
        DOUBT_PY,
        "and a.finished_at < end",
        "",
        ASSESS + "a_refusal_that_does_not_speak_for_all_attempts_clears_no_doubt",
    ),
    Removal(
        "same key, for ever",
        "dispatcher/providers/stripe/refund.py",
        "idempotency_key=str(marker.operation_id)",
        "idempotency_key=str(__import__('uuid').uuid4())",
        CASES + "06_two_equal_partial_refunds_are_two",
        stops_all=True,
    ),
    Removal(
        "a mismatch never makes a new attempt",
        DECIDE,
        "lambda c: c.drift or c.mismatch_seen",
        "lambda c: c.drift",
        DOUBT + "a_key_used_with_other_parameters_is_never_replaced",
    ),
    Removal(
        "mail is never sent twice",
        "dispatcher/provider.py",
        "return Kind.TOLERABLE if self.looks_up and self.duplicate_tolerable else Kind.NO_PROOF",
        "return Kind.TOLERABLE",
        ANSWERS + "what_never_arrived_is_sent_again_only_after_it_has_settled",
    ),
    Removal(
        "a precondition that is gone",
        DECIDE,
        "lambda c: c.world_changed, _ask_about_world",
        "lambda c: False, _ask_about_world",
        DOUBT + "an_effect_by_somebody_else_stops_a_resend",
    ),
    # What is believed.
    Removal(
        "ours only with amount, currency and target",
        "recovery/sight.py",
        "if e.subject_matches and e.money == operation.subject.money",
        "",
        ESCALATIONS + "an_amount_that_the_provider_changed_is_put_before_a_person",
    ),
    Removal(
        "answers are validated",
        "dispatcher/providers/stripe/refund_effect.py",
        "    if wrong:\n",
        "    if False:\n",
        "tests/providers/test_stripe_send.py::test_an_answer_about_something_else_is_no_acceptance",
    ),
    Removal(
        "complete pages",
        "dispatcher/providers/stripe/reading.py",
        "if not page.has_more:",
        "if page:",
        OBSERVE + "all_pages_are_read",
    ),
    Removal(
        "proof of place: the account",
        "dispatcher/providers/stripe/reading.py",
        "if expected is not None and account.id != expected:",
        "if False:",
        OBSERVE + "another_account_proves_nothing",
    ),
    Removal(
        "proof of place: the list adds up",
        "dispatcher/providers/stripe/charge_world.py",
        "if world.charge.amount_refunded > listed:",
        "if False:",
        OBSERVE + "a_list_that_lags_proves_no_absence",
    ),
    Removal(
        "clocks that disagree",
        "recovery/assess.py",
        "if look.skew_s is not None and abs",
        "if False and abs",
        BRAKES + "clocks_that_disagree_send_nothing",
    ),
    # How much by itself.
    Removal(
        "canary after an outage",
        "recovery/recover.py",
        "if judged.sighting.outage and not",
        "if False and not",
        BRAKES + "after_an_outage_one_goes_first",
    ),
    Removal(
        "cap on resends",
        "ledger/postgres/sql/take_resend.sql",
        "WHERE resend_allowances.used + excluded.used <= %(cap)s::bigint",
        "",
        BRAKES + "resends_are_capped_by_their_number_in_an_hour",
    ),
    Removal(
        "shared read budget",
        "ledger/postgres/sql/take_reads.sql",
        "greatest(0, %(wanted)s::double precision + least(reads_left, 0))",
        "%(wanted)s::double precision",
        BRAKES + "two_replicas_never_read_more_than_was_granted",
    ),
    Removal(
        "attempt budget",
        "recovery/assess.py",
        "budget_spent=doubt.attempts_made(operation) >= world.waits.attempts",
        "budget_spent=False",
        ASSESS + "six_attempts_are_the_budget",
    ),
    # People.
    Removal(
        "a verdict's effect is compared",
        "recovery/verify.py",
        "if not found.subject_matches or found.money != operation.subject.money:",
        "if False:",
        VERDICTS + "an_effect_that_does_not_fit_is_refused",
    ),
    Removal(
        "no *did not happen* before it has settled",
        "recovery/verify.py",
        "    if case.settling:\n",
        "    if False:\n",
        VERDICTS + "it_did_not_happen_is_refused_before_everything_has_settled",
    ),
    Removal(
        "only doubt closes by itself",
        "ledger/postgres/escalations.py",
        "if reason not in NEEDS_A_PERSON",
        "",
        ESCALATIONS + "a_mismatch_stays_open_although_the_doubt_has_ended",
    ),
    Removal(
        "one bad row is asked about alone",
        "recovery/passes.py",
        "await self._recovery.ask_about_fault(operation, error)",
        "raise",
        ESCALATIONS + "a_look_up_that_breaks_our_code_is_asked_about_alone",
    ),
)
