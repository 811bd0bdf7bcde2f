"""What the database and the provider refuse: typed, told, and without half a record."""

import pytest

from tests.bad_input.test_batches import refused
from tests.support.command_line import Place, all_final, refund

NOBODY = "postgresql://outlive:top-secret@127.0.0.1:9/none"


@pytest.fixture
def seeded(place: Place) -> Place:
    """A payment that can be refunded."""
    place.seed("ch_1")
    return place


@pytest.mark.parametrize(
    "command",
    [
        ("ops",),
        ("show", "01"),
        ("explain", "01"),
        ("escalations",),
        ("resolve", "01", "seen"),
        ("revoke", "11111111-1111-4111-8111-111111111111", "--reason", "x"),
        ("brake", "on", "all", "--reason", "x"),
        ("brake", "list"),
        ("audit", "verify"),
        ("audit", "checkpoint"),
        ("migrate",),
        ("worker",),
    ],
)
def test_an_unreachable_database_is_a_3_without_the_password(
    place: Place, command: tuple[str, ...]
) -> None:
    """Whatever was asked."""
    place.patch.setenv("OUTLIVE_DATABASE_URL", NOBODY)
    answered = place.outlive(*command)
    assert answered.code == 3
    assert answered.err.startswith("error: database_unreachable: ")
    assert answered.err.count("\n") == 1
    assert "top-secret" not in answered.out + answered.err


@pytest.mark.parametrize(
    "url",
    ["no url at all", "mysql://x/y", "postgresql://[::1/x", "postgresql://u:hidden@h:port/x"],
)
def test_an_address_that_is_none_is_a_typed_error(place: Place, url: str) -> None:
    """No traceback for a typing error in a setting."""
    place.patch.setenv("OUTLIVE_DATABASE_URL", url)
    answered = place.outlive("ops")
    assert answered.code == 2
    assert answered.err.startswith("error: bad_settings: OUTLIVE_DATABASE_URL: ")
    assert "hidden" not in answered.err


def test_a_newer_schema_is_refused(seeded: Place) -> None:
    """An older program must not write what it does not understand."""
    seeded.execute(b"UPDATE ledger_identity SET min_reader_version = 99")
    line = refused(seeded, "schema_mismatch", 1, lambda: seeded.outlive("ops"))
    assert "upgrade" in line
    refused(seeded, "schema_mismatch", 1, lambda: seeded.authorize(refund()))


def test_a_server_that_may_lose_what_it_acknowledged_is_refused(seeded: Place) -> None:
    """Said before anything is written."""
    name = seeded.dsn.rpartition("/")[2].partition("?")[0].encode()
    seeded.execute(b"ALTER DATABASE " + name + b" SET synchronous_commit = off")
    line = refused(seeded, "unsafe_database", 1, lambda: seeded.authorize(refund()))
    assert "synchronous_commit" in line


def test_a_wrong_provider_key_is_refused_without_showing_it(seeded: Place) -> None:
    """It says what the key needs."""
    seeded.patch.setenv("STRIPE_API_KEY", "sk_test_0123456789abcdef")
    line = refused(seeded, "provider_auth", 1, lambda: seeded.authorize(refund()))
    assert "0123456789abcdef" not in line
    assert "Check that the Stripe key" in line


def test_a_test_key_does_not_reach_live_data(seeded: Place) -> None:
    """And the error says which way round it is."""
    live = [{"id": "ch_live", "amount": 5_000, "currency": "eur"}]
    seeded.sandbox(lambda control: control.seed(charges=live, livemode=True))
    line = refused(seeded, "wrong_mode", 1, lambda: seeded.authorize(refund("ch_live")))
    assert "mode" in line


def test_a_key_that_is_none_is_a_setting(seeded: Place) -> None:
    """Named, its value not shown."""
    seeded.patch.setenv("STRIPE_API_KEY", "sk_test_\u2026")
    line = refused(seeded, "bad_settings", 2, lambda: seeded.authorize(refund()))
    assert "STRIPE_API_KEY" in line
    seeded.patch.delenv("STRIPE_API_KEY")
    refused(seeded, "bad_settings", 2, lambda: seeded.authorize(refund()))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("OUTLIVE_LEASE_S", "-1"),
        ("OUTLIVE_LEASE_S", "soon"),
        ("OUTLIVE_IDENTITY", "../../etc"),
        ("OUTLIVE_RESENDS_PER_HOUR", "0"),
        ("OUTLIVE_PROCESSING_MARGIN_S", "nan"),
        ("OUTLIVE_SEND_BUDGET_S", "inf"),
        ("OUTLIVE_STRIPE_URL", "http://api.stripe.com"),
    ],
)
def test_a_wrong_setting_is_named(place: Place, name: str, value: str) -> None:
    """Before anything is opened."""
    place.patch.setenv(name, value)
    line = refused(place, "bad_settings", 2, lambda: place.outlive("ops"))
    assert name in line


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("OUTLIVE_DATABSE_URL", "OUTLIVE_DATABASE_URL"),
        ("OUTLIVE_STRIPEURL", "OUTLIVE_STRIPE_URL"),
        ("OUTLIVE_PROCESSING_MARGIN", "OUTLIVE_PROCESSING_MARGIN_S"),
    ],
)
def test_a_misspelt_setting_is_not_passed_over(place: Place, name: str, meant: str) -> None:
    """Else money would be authorized in another ledger than the one that was meant."""
    place.patch.setenv(name, "secret")
    line = refused(place, "bad_settings", 2, lambda: place.outlive("ops"))
    assert f"{name} is no setting; {meant} is" in line
    assert "secret" not in line


def test_names_of_others_that_begin_like_ours_are_let_be(place: Place) -> None:
    """Clients, telemetry, and what an orchestrator sets for a service named `outlive`."""
    for name in ("OUTLIVE_TOKEN", "OUTLIVE_CLICKHOUSE_URL", "OUTLIVE_PORT_8787_TCP_PORT"):
        place.patch.setenv(name, "https://example.com")
    assert place.outlive("ops").code == 0


def test_a_lease_that_could_end_while_a_send_goes_on_is_refused(place: Place) -> None:
    """By the worker, before it takes anything."""
    place.patch.setenv("OUTLIVE_LEASE_S", "5")
    refused(place, "bad_timing", 2, lambda: place.outlive("worker"))


def test_margins_are_shortened_only_for_the_sandbox(seeded: Place) -> None:
    """A provider that is none, or does not answer, gets the full ones."""
    seeded.patch.setenv("OUTLIVE_STRIPE_URL", "http://127.0.0.1:9")
    line = refused(seeded, "provider_unreachable", 3, lambda: seeded.authorize(refund()))
    assert "only with the sandbox" in line


def test_an_unreachable_provider_leaves_nothing_half_done(seeded: Place) -> None:
    """The whole batch can be given again."""
    seeded.sandbox(lambda control: control.arm("error_503", path="/v1/charges", count=None))
    refused(seeded, "provider_unreachable", 3, lambda: seeded.authorize(refund()))


def test_a_target_that_does_not_exist_names_its_item(seeded: Place) -> None:
    """The other item is not stored."""
    line = refused(
        seeded,
        "target_not_found",
        1,
        lambda: seeded.authorize(refund("ch_1"), refund("ch_nowhere")),
    )
    assert "item 2: " in line


def test_more_than_is_left_is_refused_with_what_is_left(seeded: Place) -> None:
    """In money that people read."""
    line = refused(
        seeded, "precondition_failed", 1, lambda: seeded.authorize(refund("ch_1", 5_001))
    )
    assert "50.00 EUR" in line


def test_another_currency_than_the_payments_is_refused(seeded: Place) -> None:
    """Both sides must mean the same money."""
    refused(
        seeded, "currency_mismatch", 1, lambda: seeded.authorize(refund("ch_1", currency="usd"))
    )


def test_nothing_is_sent_on_an_expired_authorization(seeded: Place) -> None:
    """It ends as failed, and the provider never heard of it."""
    made = seeded.authorize(refund(), more=("--valid", "1s")).document
    [operation] = [one["id"] for one in made["operations"]]
    seeded.execute(
        b"UPDATE operations SET authorized_until = now() - interval '1 minute';"
        b"UPDATE authorizations SET authorized_until = now() - interval '1 minute'"
    )
    seeded.work(all_final(operation))
    told = seeded.outlive("explain", operation).out
    assert "AUTH_EXPIRED_NO_EFFECT" in told
    assert not seeded.sandbox(lambda control: control.journal())


def test_nothing_is_sent_on_a_revoked_authorization(seeded: Place) -> None:
    """The same, by a person's word."""
    made = seeded.authorize(refund()).document
    [operation] = [one["id"] for one in made["operations"]]
    revoked = seeded.outlive("revoke", made["authorization_id"], "--reason", "x", "--json")
    assert revoked.document == {
        "stopped": [operation],
        "stopped_sums": {"eur": 1_000},
        "had_left": [],
        "left_sums": {},
    }
    seeded.work(all_final(operation))
    assert "AUTH_REVOKED_NO_EFFECT" in seeded.outlive("explain", operation).out
    assert not seeded.sandbox(lambda control: control.journal())


@pytest.mark.parametrize(
    "arguments",
    [
        ("ops", "--since", "yesterday"),
        ("ops", "--since", "2026-11-30T12:00:00"),
        ("ops", "--cursor", "§"),
        ("show", "not-an-id"),
        ("revoke", "zz", "--reason", "x"),
        ("claim", "01", "--for", "ages"),
        ("brake", "on", "type:*", "--reason", "x"),
        ("resolve", "01", "wait", "--until", "later"),
    ],
)
def test_arguments_that_can_not_be_read_are_a_2(place: Place, arguments: tuple[str, ...]) -> None:
    """With the word that is wrong."""
    answered = place.outlive(*arguments)
    assert answered.code in {2, 4}, answered.err
    assert answered.err.startswith(("error: invalid_input: ", "error: unknown_operation: "))


@pytest.mark.parametrize(
    "arguments",
    [
        ("nonsense",),
        ("ops", "--state", "lost"),
        ("ops", "--limit", "0"),
        ("show",),
        ("resolve", "1"),
    ],
)
def test_a_wrong_command_is_a_2(place: Place, arguments: tuple[str, ...]) -> None:
    """As every command line has it."""
    assert place.outlive(*arguments).code == 2
