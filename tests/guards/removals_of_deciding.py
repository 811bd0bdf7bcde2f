"""Guards of what people decide: two of them, on one case, and never many sendings at once."""

from typing import Final

from tests.guards.removal import Removal

TWO: Final = "tests/recovery_live/test_two_people.py::test_"
CLOSE: Final = "ledger/postgres/sql/close_escalation.sql"

DECIDING: Final = (
    Removal(
        "the same person twice is one person",
        CLOSE,
        "AND s.signer <> %(by)s::text",
        "",
        TWO + "the_same_person_twice_is_one_person",
    ),
    Removal(
        "a signature is bound to its case",
        CLOSE,
        "AND s.case_version = l.case_version",
        "",
        TWO + "a_changed_case_voids_a_signature",
    ),
    Removal(
        "a signature is bound to its answer",
        CLOSE,
        "AND s.digest = %(digest)s::text",
        "",
        TWO + "a_signature_is_for_one_answer_with_its_reference",
    ),
    Removal(
        "one signature of two closes and sends nothing",
        CLOSE,
        "AND (j.people = 1 OR j.first IS NOT NULL)",
        "",
        TWO + "with_one_signature_nothing_is_sent",
    ),
    Removal(
        "nothing is sent again in bulk",
        "recovery/bulk.py",
        "if given.verdict not in BULK:",
        "if False:",
        "tests/recovery_live/test_bulk_answers.py::test_nothing_is_sent_again_in_bulk",
    ),
    Removal(
        "a repeat is answered before an approval counts",
        "ledger/postgres/sql/approve.sql",
        "FROM d, named n WHERE NOT n.item = ANY(d.separate)",
        "FROM d, named n WHERE false",
        "tests/http/test_decisions.py::test_look_alikes_must_be_answered_before_an_approval_counts",
    ),
    Removal(
        "a repeat that was shown is answered",
        "ledger/postgres/sql/approve.sql",
        "coalesce(p.preview -> 'repeats', '{}')",
        "'{}'::jsonb",
        "tests/http/test_two_people.py"
        "::test_a_repeat_that_was_shown_is_answered_although_it_has_ended",
    ),
    Removal(
        "whoever makes it more does not approve it alone",
        "sidecar/proposals/changing.py",
        "2 if more else 1",
        "1",
        "tests/http/test_two_people.py::test_whoever_makes_it_more_does_not_approve_it_alone",
    ),
)
