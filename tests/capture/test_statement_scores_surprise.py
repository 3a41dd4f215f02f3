"""How little a statement resembles what is known."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamina
from lamina import Settings
from lamina.atom.provenance import Scope
from lamina.capture.statement_scores import MIN_IMPORTANCE, SurpriseScorer, surprise_from_distances

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
LOCAL = Scope("org:local")


@pytest.mark.parametrize(
    ("distance", "surprise"), [(0.08, 0.0630), (0.2, 0.1824), (0.35, 0.5), (0.5, 0.8176), (0.8, 0.9890)]
)
def test_at_equal_distance_from_everything_surprise_is_its_logistic(distance: float, surprise: float) -> None:
    assert surprise_from_distances([distance] * 5) == pytest.approx(surprise, abs=5e-5)


def test_a_copy_of_a_known_statement_is_no_surprise_however_far_the_rest_is() -> None:
    assert surprise_from_distances([0.0, 0.6, 0.6, 0.6, 0.6]) < 0.05


@given(st.lists(st.floats(0, 1), min_size=1, max_size=5), st.integers(0, 4), st.floats(0, 1))
def test_a_greater_distance_is_never_less_surprising(distances: list[float], at: int, more: float) -> None:
    further = [number + more * (n == at % len(distances)) for n, number in enumerate(distances)]
    assert surprise_from_distances(further) >= surprise_from_distances(distances) - 1e-12


def test_surprising_statements_gain_importance_and_familiar_ones_lose_some(tmp_path: Path) -> None:
    settings = Settings(embedder="light", watch=False, background=False)
    with lamina.open(tmp_path / "vault", settings=settings) as memory:
        known = memory.remember("Ann takes her coffee black, without sugar.", subject="Ann").atom
        memory.embed()
        feeling = SurpriseScorer(memory.engine.store, memory.engine.models.choice.light, NOON)
        again = feeling.apply(known.with_(content="Ann takes coffee black and without sugar."))
        news = feeling.apply(known.with_(content="The harbour bridge closes for repairs in March."))
        assert again.importance < known.importance < news.importance
        assert again.importance >= MIN_IMPORTANCE
        assert feeling.score("anything", Scope("org:other")) is None
        assert SurpriseScorer(memory.engine.store, None, NOON).apply(known) == known
