"""Saying it often, from everywhere, or in a thousand likenesses gets the untrusted nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from pressure import flood_with_copies, graft_procedures, try_forging, try_overwriting

SEED = 20_261_116


@pytest.mark.parametrize("sources", [2, 7, 50])
def test_forged_sources_never_promote(tmp_path: Path, sources: int) -> None:
    assert try_forging(tmp_path / "v", sources, SEED).failures == []


def test_untrusted_writes_change_neither_state_nor_rank_of_a_trusted_fact(tmp_path: Path) -> None:
    pressure_report = try_overwriting(tmp_path / "v", 200, SEED)
    assert pressure_report.failures == []
    assert pressure_report.tries == 200 and 20 < pressure_report.refused < 150


def test_poisoned_procedures_that_are_admitted_take_few_of_the_top_slots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_EMBEDDER", "light")
    graft_report = graft_procedures(tmp_path / "v", SEED)
    assert graft_report.slots == 144
    assert graft_report.share <= 0.10


@pytest.mark.parametrize("numbered", [False, True])
def test_near_copies_of_one_poison_share_one_slot(tmp_path: Path, numbered: bool) -> None:
    assert flood_with_copies(tmp_path / "v", 40, SEED, numbered=numbered) <= 1
