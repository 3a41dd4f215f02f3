"""Facts about just what a question names are found by their subject or an entity, whatever words they use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import lamina
from lamina import Memory, Settings
from lamina.recall.scoring_profiles import NAMED_ENTITY, NAMED_SUBJECT, TEXT_PROFILE


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    settings = Settings(embedder="none", background=False, watch=False)
    with lamina.open(tmp_path / "vault", watch=False, settings=settings) as memory:
        yield memory


def terms(memory: Memory, question: str, text: str) -> dict[str, float]:
    (hit,) = (hit for hit in memory.recall(question).hits if hit.text == text)
    return dict(hit.terms)


def test_a_fact_is_found_by_its_subject(memory: Memory) -> None:
    memory.remember("Light roast, no sugar.", subject="coffee")
    memory.remember("Blue.", subject="the garden fence")
    assert (
        terms(memory, "how do I take my coffee?", "Light roast, no sugar.")["exact"]
        == NAMED_SUBJECT * TEXT_PROFILE.prior
    )
    assert terms(memory, "What colour has The Garden Fence?", "Blue.")["exact"] == NAMED_SUBJECT * TEXT_PROFILE.prior
    assert "exact" not in terms(memory, "what about the garden gate?", "Blue.")


def test_a_fact_is_found_by_an_entity_and_its_subject_counts_more(memory: Memory) -> None:
    memory.remember("Moved in May.", subject="family", entities=("Clara Berg",))
    assert terms(memory, "What did clara berg do?", "Moved in May.")["entity"] == NAMED_ENTITY * TEXT_PROFILE.prior
    both = terms(memory, "Is Clara Berg family?", "Moved in May.")
    assert both["exact"] == NAMED_SUBJECT * TEXT_PROFILE.prior
    assert "entity" not in both


def test_a_subject_of_everything_distinguishes_nothing(memory: Memory) -> None:
    memory.remember_many([{"content": f"Number {n}.", "subject": "things", "attribute": f"a{n}"} for n in range(60)])
    assert all("exact" not in dict(hit.terms) for hit in memory.recall("which things?", k=100).hits)


def test_forgotten_facts_and_those_of_another_scope_are_not_found_by_name(memory: Memory, tmp_path: Path) -> None:
    atom = memory.remember("Light roast.", subject="coffee").atom
    memory.forget(atom.id, "enough")
    settings = Settings(embedder="none", background=False, watch=False)
    with lamina.open(tmp_path / "vault", "org:other", watch=False, settings=settings) as other:
        other.remember("Dark roast.", subject="coffee")
    assert memory.recall("coffee?").hits == ()
