"""`authorize`, `revoke`, `escalations`, `claim`, `resolve`, `brake`: what a person decides."""

from uuid import UUID

import pytest

from sidecar.wiring import System
from tests.cli.test_reading import asked_about, authorized
from tests.support.command_line import Place, all_final, refund


def test_the_same_request_under_its_key_finds_its_authorization(place: Place) -> None:
    """Also once the world has been changed by what it authorized."""
    place.seed("ch_1")
    item = refund(amount_minor=5_000)
    first = place.authorize(item).document
    place.work(all_final(*(one["id"] for one in first["operations"])))
    again = place.authorize(item).document
    assert again["authorization_id"] == first["authorization_id"]
    assert (first["repeated"], again["repeated"]) == (False, True)
    assert place.rows()["operations"] == 1


def test_the_order_of_fields_and_blanks_make_no_other_request(place: Place) -> None:
    """The digest is over what was said, not over how it was written."""
    place.seed("ch_1")
    first = place.authorize(b'{"charge": "ch_1", "amount_minor": 100, "currency": "eur"}')
    again = place.authorize(b'{"currency":"eur","amount_minor":100,"charge":"ch_1"}', b"")
    assert again.document["authorization_id"] == first.document["authorization_id"]


def test_people_read_count_sum_and_authorization(place: Place) -> None:
    """One line says what was authorized."""
    place.seed("ch_1", "ch_2")
    batch = place.file(refund("ch_1", 123_400 // 100), refund("ch_2", 4_000))
    told = place.outlive("authorize", batch, "--type", "stripe.refund", "--key", "k")
    assert told.code == 0
    assert "2 operations, 52.34 EUR" in told.out


def test_a_batch_is_read_from_standard_input(place: Place) -> None:
    """`-` is the usual word for it."""
    place.seed("ch_1")
    with open(place.file(refund()), encoding="utf-8") as batch:  # noqa: PTH123  replaces stdin
        place.patch.setattr("sys.stdin", batch)
        told = place.outlive("authorize", "-", "--type", "stripe.refund", "--key", "k")
    assert told.code == 0, told.err


def test_revoking_stops_what_has_not_left_and_names_what_has(place: Place) -> None:
    """What left is counted apart, with its money."""
    place.seed("ch_1", "ch_2")
    place.sandbox(lambda c: c.arm("close", when="before", method="POST", count=None))
    made = place.authorize(refund("ch_1"), refund("ch_2", 700)).document
    first = made["operations"][0]["id"]
    place.execute(b"UPDATE operations SET next_check_at = 'infinity' WHERE item = 2")

    async def sent(system: object) -> bool:
        del system
        async with place.server.control() as control:
            return bool([r for r in await control.requests() if r["method"] == "POST"])

    place.work(sent)
    told = place.outlive("revoke", made["authorization_id"], "--reason", "wrong file")
    assert "Stopped: 1 that had not left, 7.00 EUR" in told.out
    assert "Had left already: 1, 10.00 EUR" in told.out
    assert first in told.out


def test_revoking_what_does_not_exist_says_so(place: Place) -> None:
    """An id of nothing is no silent success."""
    told = place.outlive(
        "revoke", "11111111-1111-4111-8111-111111111111", "--reason", "x", "--json"
    )
    assert (told.code, told.out) == (4, "")
    assert told.err.startswith("error: unknown_authorization: ")


def test_a_wrong_answer_is_refused_and_a_right_one_confirms(place: Place) -> None:
    """The provider is asked before an answer counts."""
    operation = asked_about(place)
    [question] = place.outlive("escalations", "--json").document["escalations"]
    assert question["operation_id"] == operation
    wrong = place.outlive("resolve", operation, "happened", "--reference", "re_nowhere")
    assert wrong.code == 1
    assert wrong.err.startswith("error: verdict_refused: stripe has no re_nowhere")
    effect = place.sandbox(lambda c: c.journal())[0]["object_id"]
    right = place.outlive("resolve", question["id"], "happened", "--reference", effect)
    assert right.code == 0, right.err
    assert "✓ confirmed" in right.out
    assert place.outlive("escalations").out == "No question is open.\n"
    assert place.outlive("resolve", question["id"], "happened", "--reference", effect).code == 5


def test_a_question_says_what_the_provider_shows(place: Place) -> None:
    """Everything that the answer rests on, in one place."""
    asked_about(place)
    told = place.outlive("escalations").out
    assert "FOREIGN_EFFECT" in told
    assert "without our id" in told
    assert "10.00 EUR" in told
    assert "did-not-happen" in told


def test_a_claimed_question_is_not_claimed_twice(place: Place) -> None:
    """Two people do not look at the same one."""
    operation = asked_about(place)
    assert place.outlive("claim", operation, "--by", "amaia").code == 0
    other = place.outlive("claim", operation, "--by", "ben")
    assert other.code == 5
    assert other.err.startswith("error: escalation_closed: ")


def test_an_answer_to_an_older_picture_is_refused(place: Place) -> None:
    """Who read before something was learned reads again."""
    operation = asked_about(place)
    case = place.outlive("show", operation, "--json").document["operation"]["case_version"]
    wrong = place.outlive("resolve", operation, "happened", "--reference", "re_nowhere")
    assert wrong.code == 1, "a refused answer is something that was learned"
    stale = place.outlive("resolve", operation, "give-up", "--case", str(case))
    assert stale.code == 5
    assert stale.err.startswith("error: stale_case: ")
    fresh = place.outlive("resolve", operation, "give-up", "--case", str(case + 1))
    assert "⊘ given up" in fresh.out


def test_a_brake_is_set_listed_and_released(place: Place) -> None:
    """Releasing what is not on is told apart."""
    assert place.outlive("brake", "on", "type:stripe.refund", "--reason", "drill").code == 0
    [brake] = place.outlive("brake", "list", "--json").document["brakes"]
    assert (brake["scope"], brake["reason"]) == ("type:stripe.refund", "drill")
    assert "drill" in place.outlive("brake", "list").out
    assert place.outlive("brake", "off", "type:stripe.refund").code == 0
    assert place.outlive("brake", "off", "type:stripe.refund").code == 1
    assert place.outlive("brake", "on", "everything", "--reason", "x").code == 2


@pytest.mark.parametrize("scope", ["provider:strpe", "type:stripe.refnd", "type:stripe"])
def test_a_brake_that_would_stop_nothing_is_refused(place: Place, scope: str) -> None:
    """A slip of the pen must not look like safety; what there is, is named."""
    refused = place.outlive("brake", "on", scope, "--reason", "drill")
    assert refused.code == 2
    assert "would stop nothing" in refused.err
    assert "provider:stripe, type:stripe.refund" in refused.err
    assert "No brake is on." in place.outlive("brake", "list").out


def test_nothing_leaves_under_a_brake(place: Place) -> None:
    """The command holds back a worker."""
    [operation] = authorized(place, "ch_1")
    place.outlive("brake", "on", "all", "--reason", "drill")

    async def held(system: System) -> bool:
        return (await system.ledger.operation(UUID(operation))).decision == "NOT_YET_BRAKE"

    place.work(held)
    assert not place.sandbox(lambda c: c.journal())
    assert "The brake is on." in place.outlive("explain", operation).out


def test_two_people_answer_above_the_policys_threshold(place: Place) -> None:
    """The first signs and can take it back; the same person twice is one; the second answers."""
    operation = asked_about(place)
    policy = place.home / "policy.toml"
    policy.write_text("version = 1\nanswers_by_two_people_above_minor = {usd = 1}\n")
    answer = ("resolve", operation, "give-up")
    signed = place.outlive(*answer, "--by", "ines")
    assert signed.code == 0, signed.err
    assert signed.out.startswith("Signed: 1 of 2. Nothing was changed or sent.")
    listed = place.outlive("escalations").out
    assert "give-up by person:ines" in " ".join(listed.split())
    twice = place.outlive(*answer, "--by", "ines")
    assert (twice.code, twice.err.startswith("error: signed_already")) == (1, True)
    back = place.outlive("unsign", operation, "--by", "ines")
    assert back.code == 0, back.err
    assert place.outlive(*answer, "--by", "bo").out.startswith("Signed: 1 of 2.")
    done = place.outlive(*answer, "--by", "ines")
    assert done.out.startswith("Answered: ")


def test_the_provider_is_asked_again_and_the_claim_is_released(place: Place) -> None:
    """What is there, and which answers that locks; asked twice at once it says when again."""
    operation = asked_about(place)
    asked = place.outlive("ask", operation)
    assert asked.code == 0, asked.err
    assert asked.out.startswith("The provider says: ")
    soon = place.outlive("ask", operation)
    assert (soon.code, soon.err.startswith("error: throttled")) == (1, True)
    assert place.outlive("claim", operation).code == 0
    assert place.outlive("claim", operation, "--extend").out.startswith("Yours until ")
    assert place.outlive("claim", operation, "--release").out.startswith("Released.")
    assert place.outlive("claim", operation, "--release").code == 1


def test_many_are_answered_with_their_case_versions(place: Place) -> None:
    """The count is said, and each question's outcome is told."""
    operation = asked_about(place)
    [question] = place.outlive("escalations", "--json").document["escalations"]
    version = place.outlive("show", operation, "--json").document["operation"]["case_version"]
    named = f"{question['id']}:{version}"
    wrong = place.outlive("answer-many", "give-up", named, "--count", "2", "--key", "k")
    assert (wrong.code, wrong.err.startswith("error: bulk_refused")) == (2, True)
    told = place.outlive("answer-many", "give-up", named, "--count", "1", "--key", "k")
    assert told.code == 0, told.err
    assert "1 closed" in told.out
    again = place.outlive("answer-many", "give-up", named, "--count", "1", "--key", "k")
    assert again.out == told.out
