"""`audit`, `doctor`, `migrate`: is everything as it must be."""

from pathlib import Path

import pytest

from tests.cli.test_reading import asked_about, authorized
from tests.support.command_line import Place, all_final


def findings(place: Place) -> dict[str, tuple[str, str]]:
    """What doctor finds: level and words, by subject."""
    answered = place.outlive("doctor", "--json")
    return {f["subject"]: (f["level"], f["told"]) for f in answered.document["findings"]}


def test_an_untouched_history_verifies_and_a_changed_one_does_not(place: Place) -> None:
    """The exit code says which."""
    [operation] = authorized(place, "ch_1")
    place.work(all_final(operation))
    signed = place.outlive("audit", "checkpoint")
    assert "Checkpoint 1" in signed.out
    assert (place.home / "checkpoints.jsonl").exists()
    whole = place.outlive("audit", "verify", "--json")
    assert (whole.code, whole.document["whole"], whole.document["anchored"]) == (0, True, 1)
    place.execute(b"ALTER TABLE events DISABLE TRIGGER ALL; UPDATE events SET actor = 'x'")
    broken = place.outlive("audit", "verify")
    assert broken.code == 1
    assert "not whole" in broken.out
    assert operation in broken.out


def test_a_checkpoint_of_nothing_new_is_none(place: Place) -> None:
    """Asking twice signs once."""
    authorized(place, "ch_1")
    assert place.outlive("audit", "checkpoint", "--json").document["checkpoint"] is not None
    assert place.outlive("audit", "checkpoint", "--json").document["checkpoint"] is None


def test_doctor_of_a_healthy_place_passes(place: Place) -> None:
    """Warnings do not count; the sandbox is named as such."""
    answered = place.outlive("doctor", "--json")
    assert answered.code == 0, answered.out
    found = findings(place)
    assert "SANDBOX" in found["provider"][1]
    assert found["workers"][0] == "warn"
    assert found["mode"] == ("ok", "the key's mode is test")
    assert "what to do".upper() in place.outlive("doctor").out


def test_doctor_tells_overdue_work_and_open_questions(place: Place) -> None:
    """With what to do about each."""
    asked_about(place)
    place.execute(b"UPDATE operations SET next_check_at = now() - interval '5 minutes'")
    found = findings(place)
    assert found["due work"][0] == "fail"
    assert found["questions"] == ("warn", "1 open")
    assert place.outlive("doctor").code == 1


def test_doctor_tells_a_refused_key(place: Place) -> None:
    """Without the key itself."""
    place.patch.setenv("STRIPE_API_KEY", "sk_test_wrong_0123456789")
    answered = place.outlive("doctor")
    assert answered.code == 1
    assert "provider_auth" in answered.out
    assert "sk_test_wrong_0123456789" not in answered.out + answered.err


def test_doctor_tells_a_key_of_the_other_mode(place: Place) -> None:
    """A live key beside a ledger of test operations."""
    authorized(place, "ch_1")
    place.patch.setenv("STRIPE_API_KEY", "sk_live_sandbox")
    level, told = findings(place)["mode"]
    assert level == "fail"
    assert told.startswith("wrong_mode: ")


def test_doctor_tells_brakes_and_open_operations_of_unknown_types(place: Place) -> None:
    """Both before anything else is tried."""
    authorized(place, "ch_1")
    place.outlive("brake", "on", "all", "--reason", "drill")
    place.execute(
        b"ALTER TABLE operations DISABLE TRIGGER USER; UPDATE operations SET type_version = 9"
    )
    found = findings(place)
    assert found["brakes"] == ("warn", "on: all")
    assert found["types"][0] == "fail"
    assert "1 of stripe.refund v9" in found["types"][1]


def test_doctor_without_a_database_says_so(place: Place) -> None:
    """One failing line, and no traceback."""
    place.patch.setenv("OUTLIVE_DATABASE_URL", "postgresql://nobody:hidden@127.0.0.1:9/none")
    answered = place.outlive("doctor")
    assert answered.code == 1
    assert "database_unreachable" in answered.out
    assert "hidden" not in answered.out + answered.err


def test_migrate_makes_the_schema_where_there_is_none(place: Place, empty_database: str) -> None:
    """Before that, everything else says what to run."""
    place.patch.setenv("OUTLIVE_DATABASE_URL", empty_database)
    before = place.outlive("ops")
    assert before.err.startswith("error: schema_mismatch: ")
    assert "outlive migrate" in before.err
    assert place.outlive("migrate").code == 0
    assert place.outlive("ops").code == 0


@pytest.mark.parametrize("command", ["ops", "show", "explain", "resolve", "doctor", "demo", "up"])
def test_every_command_explains_itself(place: Place, command: str) -> None:
    """Help needs no ledger."""
    place.patch.setenv("OUTLIVE_DATABASE_URL", "postgresql://127.0.0.1:9/none")
    answered = place.outlive(command, "--help")
    assert answered.code == 0
    assert "Usage: outlive" in answered.out


def test_an_unexpected_error_is_one_line_and_a_log_without_secrets(place: Place) -> None:
    """No traceback on the screen; nothing in confidence in the file."""

    def broken(*_: object) -> None:
        raise RuntimeError("sk_test_sandbox fell over")

    place.patch.setattr("sidecar.cli.stopping.open_ledger", broken)
    answered = place.outlive("brake", "list")
    assert answered.code == 70
    assert answered.err.count("\n") == 1
    assert answered.err.startswith("error: unexpected: RuntimeError, a bug of ours; see ")
    log = Path(answered.err.split("; see ")[1].strip())
    text = log.read_text()
    log.unlink()
    assert "RuntimeError" in text
    assert "sk_test_sandbox" not in text


def test_doctor_of_a_place_without_a_key_warns_and_passes(place: Place) -> None:
    """A demo's folder has none: nothing is wrong with it, and nothing can be sent from it."""
    place.patch.delenv("STRIPE_API_KEY")
    answered = place.outlive("doctor", "--json")
    assert answered.code == 0, answered.out
    found = {f["subject"]: (f["level"], f["do"]) for f in answered.document["findings"]}
    assert found["provider"][0] == "warn"
    assert "STRIPE_API_KEY" in found["provider"][1]
