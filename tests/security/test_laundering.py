"""However it is summed up, merged, copied or brought back: nothing is worth more than what it came from."""

from __future__ import annotations

from pathlib import Path

import pytest
from laundering import STEPS, Laundry, Step, in_a_store

SEED = 20_261_116


def test_no_chain_of_commits_raises_trust_above_its_source(tmp_path: Path) -> None:
    laundering_report = in_a_store(tmp_path, 250, SEED)
    assert laundering_report.failures == []
    assert laundering_report.chains == 250 and 50 < laundering_report.refused < laundering_report.links


@pytest.mark.parametrize("seed", range(2))
def test_no_chain_of_verbs_activates_poison(tmp_path: Path, seed: int) -> None:
    wash = Laundry(tmp_path, SEED + seed)
    try:
        for _ in range(6):
            wash.chain()
        assert wash.done.failures == []
    finally:
        wash.close()


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
def test_no_single_step_activates_poison(tmp_path: Path, step: Step) -> None:
    wash = Laundry(tmp_path, SEED)
    try:
        wash.chain(2, [step])
        assert wash.done.failures == []
    finally:
        wash.close()
