"""Guards of doubt, of what is believed, of how much is done alone, and of people."""

from typing import Final

from tests.guards.removal import Removal

ANSWERS: Final = "tests/recovery_live/test_answers.py::test_"
DOUBT: Final = "tests/recovery_live/test_answers_in_doubt.py::test_"
BRAKES: Final = "tests/recovery_live/test_brakes.py::test_"
ESCALATIONS: Final = "tests/recovery_live/test_escalations.py::test_"
VERDICTS: Final = "tests/recovery_live/test_verdicts.py::test_"
CASES: Final = "tests/cases/test_reports.py::test_case_"
GATE: Final = "tests/ledger/test_gate.py::test_each_reason_stops_it"
ASSESS: Final = "tests/recovery/test_assess_attempts.py::test_"
ABSENCE: Final = "tests/providers/test_stripe_absence.py::test_"
BEGIN: Final = "ledger/postgres/sql/begin_attempt.sql"
DECIDE: Final = "recovery/decide.py"
DOUBT_PY: Final = "recovery/doubt.py"
PERMITTED: Final = "tests/recovery_live/test_answers_permitted.py::test_"

JUDGING: Final = (
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
        "case Outcome.REFUSED if doubtful or taken or capabilities.target_state:",
        "case Outcome.REFUSED if taken or capabilities.target_state:",
        ANSWERS + "doubt_outlives_an_ordinary_refusal",
    ),
    Removal(
        "an acceptance outlives a refusal",
        "dispatcher/conclude.py",
        "case Outcome.REFUSED if doubtful or taken or capabilities.target_state:",
        "case Outcome.REFUSED if doubtful or capabilities.target_state:",
        "tests/recovery/test_conclude.py::"
        "test_a_refusal_closes_nothing_after_an_acceptance_or_in_doubt",
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
        PERMITTED + "a_key_may_be_unknown_under_another_credential",
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
        "tests/providers/test_stripe_observe.py::test_all_pages_are_read",
    ),
    Removal(
        "proof of place: the account",
        "dispatcher/providers/stripe/reading.py",
        "if expected is not None and account.id != expected:",
        "if False:",
        ABSENCE + "another_account_proves_nothing",
    ),
    Removal(
        "proof of place: the list adds up",
        "dispatcher/providers/stripe/charge_world.py",
        "if world.charge.amount_refunded > listed:",
        "if False:",
        ABSENCE + "a_list_that_lags_proves_no_absence",
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
        "greatest(0, least(%(wanted)s::double precision, floor(reads)))",
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
