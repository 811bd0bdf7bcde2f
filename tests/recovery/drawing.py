"""Draws true worlds: any at all, and small ones from a grid of telling values."""

import random
from dataclasses import replace
from typing import Final

from hypothesis import strategies as st

from dispatcher.provider import Trouble
from ledger.model import Marker
from tests.recovery.given import HOUR, LEDGER, OPERATION, OTHER_LEDGER, REFUND, SIBLING
from tests.recovery.true_worlds import (
    DAY_S,
    LAG_S,
    LONGEST_S,
    NEVER,
    Fate,
    Sending,
    Stranger,
    Truth,
)

KEYED: Final = replace(REFUND, look_up_lag_s=LAG_S)
SPANNING: Final = replace(
    KEYED, key=replace(KEYED.key, spans_credentials=True) if KEYED.key else None
)
KEYLESS: Final = replace(KEYED, key=None)
CREDENTIALS: Final = st.sampled_from(["k1", "k1", "k1", "k2"])
PAUSES: Final = st.one_of(
    st.floats(1, 400),
    st.floats(1, 400),
    st.floats(HOUR, 12 * HOUR),
    st.floats(22 * HOUR, 26 * HOUR),
)
TROUBLES: Final = (None, None, None, None, *Trouble)
MARKERS: Final = st.sampled_from(
    [None, Marker(OTHER_LEDGER, 1, OPERATION), Marker(LEDGER, 1, SIBLING)]
)


@st.composite
def truths(draw: st.DrawFn) -> Truth:
    """Draw a world."""
    capabilities = draw(st.sampled_from([KEYED, SPANNING, KEYLESS]))
    sendings: list[Sending] = []
    moment = 0.0
    for _ in range(draw(st.integers(0, 4))):
        moment += draw(PAUSES)
        sendings.append(
            Sending(
                started=moment,
                fate=draw(st.sampled_from([Fate.ARRIVED, *Fate])),
                takes_s=draw(st.floats(0.1, LONGEST_S)),
                credential=draw(CREDENTIALS),
                dies=draw(st.booleans()),
                heard=draw(st.booleans()),
                told_ambiguous=draw(st.booleans()),
            )
        )
    now = moment + draw(st.one_of(st.floats(0.1, LONGEST_S), PAUSES))
    return Truth(
        capabilities=capabilities,
        scoped=capabilities is not SPANNING and draw(st.booleans()),
        prunes=draw(st.booleans()),
        refuses=draw(st.sampled_from([(0, 0), (0, now / 2), (now / 2, NEVER), (0, NEVER)])),
        lag_s=draw(st.floats(0, LAG_S)),
        sendings=tuple(sendings),
        strangers=tuple(
            Stranger(
                reference=f"other_{i}",
                marker=draw(MARKERS),
                since=draw(st.floats(-DAY_S, now)),
                alive=draw(st.booleans()),
                in_snapshot=draw(st.booleans()),
            )
            for i in range(draw(st.sampled_from([0, 0, 1, 3])))
        ),
        now=now,
        credential=draw(CREDENTIALS),
        again_takes_s=draw(st.floats(0.1, LONGEST_S)),
        order=draw(st.integers(0, 7)),
        hidden=draw(st.integers(0, 3)),
        trouble=draw(st.sampled_from(TROUBLES)),
    )


def small_world(chance: random.Random) -> Truth:
    """Draw a world from a grid of telling values."""
    pick = chance.choice
    capabilities = pick([KEYED, SPANNING, KEYLESS])
    gap = pick([60.0, 3 * HOUR, 23 * HOUR - 3, 25 * HOUR])
    first, second = (
        Sending(
            started=started,
            fate=pick([Fate.ARRIVED, *Fate]),
            takes_s=pick([0.5, 34.0, LONGEST_S - 0.001]),
            credential=pick(["k1", "k2"]),
            dies=pick([True, False]),
            heard=pick([True, False]),
            told_ambiguous=pick([True, False]),
        )
        for started in (0.0, gap)
    )
    now = gap + pick(
        [1.0, 40.0, LONGEST_S - 10, LONGEST_S + 5, LONGEST_S + LAG_S + 1, 2 * HOUR, 22.5 * HOUR]
    )
    stranger = Stranger(
        "other",
        pick([None, Marker(LEDGER, 1, SIBLING)]),
        gap,
        pick([True, False]),
        pick([True, False]),
    )
    return Truth(
        capabilities=capabilities,
        scoped=capabilities is not SPANNING and pick([True, False]),
        prunes=pick([True, False]),
        refuses=pick([(0, 0), (0, gap), (gap, NEVER), (0, NEVER)]),
        lag_s=pick([0.0, LAG_S - 0.001]),
        sendings=pick([(), (first,), (first, second), (first, second)]),
        strangers=pick([(), (), (stranger,)]),
        now=now,
        credential=pick(["k1", "k2"]),
        again_takes_s=pick([0.5, LONGEST_S]),
        order=pick([0, 1]),
        hidden=pick([0, 1]),
        trouble=pick(TROUBLES),
    )
