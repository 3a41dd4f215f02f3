"""Saying it often, from everywhere, or in a thousand likenesses gets the untrusted nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from pressure import flooded, forged, grafted, overwritten

SEED = 20_261_116


@pytest.mark.parametrize("sources", [2, 7, 50])
def test_forged_sources_never_promote(tmp_path: Path, sources: int) -> None:
    assert forged(tmp_path / "v", sources, SEED).failures == []


def test_untrusted_writes_change_neither_state_nor_rank_of_a_trusted_fact(tmp_path: Path) -> None:
    done = overwritten(tmp_path / "v", 200, SEED)
    assert done.failures == []
    assert done.tries == 200 and 20 < done.refused < 150


def test_poisoned_experiences_that_are_let_in_take_few_of_the_first_slots(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAMINA_EMBEDDER", "light")
    done = grafted(tmp_path / "v", SEED)
    assert done.slots == 144
    assert done.share <= 0.10


@pytest.mark.parametrize("numbered", [False, True])
def test_near_copies_of_one_poison_take_one_slot(tmp_path: Path, numbered: bool) -> None:
    assert flooded(tmp_path / "v", 40, SEED, numbered=numbered) <= 1
