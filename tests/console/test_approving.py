"""What the pages of approvals work out, without pages."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from random import Random
from typing import Any
from uuid import UUID

import pytest

from dispatcher.preview import MOST_GROUPS, preview
from ledger.commands import NewOperation
from ledger.model import Money, Subject
from ledger.policy import totals
from sidecar.console.approving.answers import Answers, numbers, renumbered, without
from sidecar.console.approving.checking import Picked, checks_of
from sidecar.console.approving.groups import groups_of
from sidecar.console.approving.schema_form import Widget, fields_of, value_of
from tests.support.fake_provider import ACCOUNT, KEYED, FakeProvider
from tests.support.fake_type import FakeType

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def _operation(number: int, money: Money | None, target: int | None = None) -> NewOperation:
    return NewOperation(
        id=UUID(int=number + 1),
        adapter_version="fake/1",
        provider="fake",
        family="thing",
        subject=Subject(ACCOUNT, False, f"thing_{number if target is None else target}", money),
        parameters={},
        request=b"",
        request_digest=f"{number:064x}",
        snapshot={"remaining_minor": None, "gone": [], "facts": {}},
    )


def _batch(money: Sequence[Money | None]) -> dict[str, Any]:
    kind = FakeType("fake.thing", KEYED, FakeProvider(lambda: NOW))
    return preview(kind, [_operation(n, one) for n, one in enumerate(money)], {})


@pytest.mark.parametrize("amounts", [3, 8, 9, 5000])
@pytest.mark.parametrize("rows", [1, 38, 10_000])
@pytest.mark.parametrize("seed", range(3))
def test_every_row_is_in_the_groups(rows: int, amounts: int, seed: int) -> None:
    """Acceptance 9: counts and sums equal the totals, for any rows, in any currency."""
    draw = Random(f"{seed}:{rows}:{amounts}")  # noqa: S311  no secret
    money: list[Money | None] = [
        None
        if draw.random() < 0.05
        else Money(draw.randint(1, amounts), draw.choice(["eur", "usd", "jpy"]))
        for _ in range(rows)
    ]

    groups = groups_of(_batch(money))

    sums, lines = Counter[str](), Counter[str]()
    for line in groups.lines:
        if line.total is not None and line.largest is not None and line.smallest is not None:
            sums[line.total.currency] += line.total.amount_minor
            lines[line.total.currency] += 1
            inside = line.count * line.smallest.amount_minor
            assert inside <= line.total.amount_minor <= line.count * line.largest.amount_minor
    assert groups.whole
    assert groups.count == rows == sum(line.count for line in groups.lines)
    assert sums == totals(money) == {one.currency: one.amount_minor for one in groups.totals}
    assert all(count <= MOST_GROUPS for count in lines.values())


@pytest.mark.parametrize("broken", ["a row", "a group", "an amount", "a total"])
def test_groups_that_leave_a_row_out_are_noticed(broken: str) -> None:
    """Acceptance 9: the page says so, and shows no button that approves."""
    made = _batch([*[Money(8900, "eur")] * 3, Money(6400, "eur")])
    if broken == "a row":
        made["preconditions"].pop()
    elif broken == "a group":
        made["groups"].pop()
    elif broken == "an amount":
        made["preconditions"][0]["amount_minor"] += 1
    else:
        made["totals"][0]["total_minor"] -= 1

    assert not groups_of(made).whole


def test_rows_to_check_say_why_they_were_picked() -> None:
    """The largest, those on one target, and drawn ones; at least five where there are five."""
    rows = [_operation(n, Money(8900, "eur")) for n in range(20)]
    rows += [_operation(20, Money(41_200, "eur")), _operation(21, Money(6400, "eur"), target=0)]
    made = preview(FakeType("fake.thing", KEYED, FakeProvider(lambda: NOW)), rows, {})

    checks = checks_of(made, {n: f"thing_{n}" for n in range(1, 23)})

    assert [(one.item, one.picked) for one in checks[:3]] == [
        (21, Picked.LARGEST),
        (1, Picked.TWICE),
        (22, Picked.TWICE),
    ]
    assert checks[0].times_median == pytest.approx(41_200 / 8900)
    assert len(checks) == 5
    assert {one.picked for one in checks[3:]} == {Picked.DRAWN}


def test_answers_live_in_the_address() -> None:
    """Only for rows that are asked about; an answer can be changed."""
    answers = Answers.of({"keep": "3,7,99", "leave": "7"}, [3, 7, 9])

    assert answers == Answers(keep=frozenset({3}), leave=frozenset({7}))
    assert answers.missing([3, 7, 9]) == 1
    assert answers.kept(7).left(3).query == "?keep=7&leave=3"
    assert Answers().query == ""


def test_both_answers_say_what_they_come_to() -> None:
    """Count and sums, with and without a row."""
    rows = [Money(8900, "eur"), Money(1000, "usd"), None, Money(6400, "eur")]

    assert without(rows, set()) == (4, (Money(15_300, "eur"), Money(1000, "usd")))
    assert without(rows, {1, 2}) == (2, (Money(6400, "eur"),))
    assert renumbered({3, 4}, {1}, 4) == {2, 3}


@pytest.mark.parametrize(
    ("text", "found"),
    [("", []), ("3, 7-9", [3, 7, 8, 9]), ("x,-1,²,5", [5]), ("9-7", [])],
)
def test_row_numbers_are_read_as_people_write_them(text: str, found: list[int]) -> None:
    """What makes no sense is passed over."""
    assert sorted(numbers(text)) == found


def test_a_range_of_rows_has_an_end() -> None:
    """Nobody fills the memory."""
    assert len(numbers("1-999999999999")) <= 10_000


def test_many_ranges_have_one_end_together() -> None:
    """Nobody keeps the server busy with the same range a thousand times."""
    assert numbers("1-10000,1-10000,20001") == set(range(1, 10_001))


def test_a_form_is_made_from_a_schema() -> None:
    """Required fields first; what may be left out is left out when it is empty."""
    schema = {
        "properties": {
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "amount_minor": {"type": "integer"},
            "why": {"anyOf": [{"enum": ["a", "b"], "type": "string"}, {"type": "null"}]},
            "now": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
        },
        "required": ["amount_minor"],
    }

    fields = fields_of(schema)

    assert [(one.name, one.widget) for one in fields] == [
        ("amount_minor", Widget.WHOLE),
        ("note", Widget.TEXT),
        ("why", Widget.CHOICE),
        ("now", Widget.YES_NO),
    ]
    assert [value_of(fields[0], "12"), value_of(fields[1], " "), value_of(fields[3], "true")] == [
        12,
        None,
        True,
    ]
    with pytest.raises(ValueError, match="invalid literal"):
        value_of(fields[0], "12.5")
