"""`outlive people`: a Slack account is one person's, and gives no right by itself."""

from tests.support.command_line import Place


def test_a_person_is_added_listed_and_removed(place: Place) -> None:
    """With a word about the token that is still missing."""
    assert "token create ines" in place.outlive("people", "add", "ines", "--slack", "U1AB").out
    place.outlive("token", "create", "ines", "--role", "approver")
    assert "can't decide" not in place.outlive("people", "add", "ines", "--slack", "U2AB").out
    [one] = place.outlive("people", "list", "--json").document["people"]
    assert one == {"name": "ines", "slack_id": "U2AB", "decides": True}
    assert "U2AB" in place.outlive("people", "list").out
    assert place.outlive("people", "remove", "ines").code == 0
    assert place.outlive("people", "list", "--json").document == {"people": []}
    assert place.outlive("people", "remove", "ines").code == 4


def test_an_account_is_nobody_elses(place: Place) -> None:
    """Refused, and it stays whose it was."""
    place.outlive("people", "add", "ines", "--slack", "U1AB")
    refused = place.outlive("people", "add", "bo", "--slack", "U1AB")
    assert (refused.code, "name_taken" in refused.err) == (1, True)
    assert len(place.outlive("people", "list", "--json").document["people"]) == 1


def test_what_is_no_account_is_refused(place: Place) -> None:
    """A handle is not an id."""
    assert place.outlive("people", "add", "ines", "--slack", "@ines").code == 2
    assert place.outlive("people", "add", "a b", "--slack", "U1AB").code == 2
