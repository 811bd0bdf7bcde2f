"""The kill matrix: a selection of cases that holds the most pairs of conditions."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.crash.cases import End, Kind, Send, World, every, matrix, pairwise, share_of_pairs
from tests.crash.report import story
from tests.crash.run import PAIRWISE, SEED, again, play_all

LIMIT_S = 600
JOBS = 2 * (os.cpu_count() or 1)


@pytest.mark.crash
@pytest.mark.timeout(LIMIT_S)
def test_a_worker_that_dies_anywhere_leaves_one_effect_and_a_true_record() -> None:
    """Real processes are killed and stopped; their successors find what the provider knows."""
    cases = pairwise(every(), PAIRWISE, SEED)
    failed: list[str] = []

    def run() -> int:
        verdicts = play_all(cases, jobs=JOBS, seed=SEED, heard=lambda _: None)
        failed.extend(story(v, again(v.played.case, SEED)) for v in verdicts if v.faults)
        return len(verdicts)

    with ThreadPoolExecutor(1) as pool:  # its own loop, and none of the test's
        played = pool.submit(run).result()
    assert played == PAIRWISE
    assert not failed, "\n\n".join(failed)


def test_the_matrix_holds_every_step_end_fault_and_turn() -> None:
    """Nothing that was named is left out of it."""
    cases = matrix()
    assert {case.kind for case in cases} == set(Kind)
    assert {case.end for case in cases} == set(End)
    assert {case.send for case in cases} == set(Send)
    assert {case.world for case in cases} == set(World)
    assert {case.step for case in cases} == {case.step for case in every()}


def test_enough_cases_hold_every_pair_of_conditions() -> None:
    """The selection is computed, repeats with its seed, and misses nothing if it may grow."""
    cases = every()
    chosen = pairwise(cases, len(cases), SEED)
    assert share_of_pairs(chosen, cases) == 1
    assert len(chosen) < len(matrix())
    assert pairwise(cases, PAIRWISE, SEED) == chosen[:PAIRWISE]
