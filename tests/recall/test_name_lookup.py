"""A fact written down with the names it goes by is an answer where a question names it, hardly where it does not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamina
from lamina import Memory, Recall, Settings
from lamina.recall.graph_walk import CORRECT_PREFIX, spelling_variants


@pytest.fixture(params=["none", "light"])
def memory(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Memory]:
    settings = Settings(embedder=request.param, background=False, watch=False)
    with lamina.open(tmp_path / "vault", watch=False, settings=settings) as memory:
        memory.remember("Services run on a cluster in Dublin.", subject="kubernetes", entities=("kubernetes", "k8s"))
        memory.remember("Services are checked by a cluster of tests.", subject="tests", entities=("tests", "vitest"))
        memory.remember("Failed jobs wait for services.", subject="dead letters", entities=("dead letter queue",))
        memory.embed()
        yield memory


def answers(result: Recall) -> set[str]:
    return {hit.atom.subject for hit in result.relevant}


def test_a_named_fact_answers_without_a_shared_word(memory: Memory) -> None:
    assert answers(memory.recall("k8s?")) == {"kubernetes"}
    assert answers(memory.recall("what waits in the dead letter queue")) == {"dead letters"}


def test_beside_a_named_fact_a_text_match_is_no_answer(memory: Memory) -> None:
    result = memory.recall("Which services and clusters does k8s have?")
    assert answers(result) == {"kubernetes"}
    assert {hit.atom.subject for hit in result.hits} > {"kubernetes"}


def test_a_name_late_in_a_long_question_is_found(memory: Memory) -> None:
    rambling = "well, I have been thinking about this for quite a while " * 6
    assert "kubernetes" in answers(memory.recall(f"{rambling} and what about k8s?"))


def test_dependencies_of_a_named_fact_are_returned_with_it(memory: Memory) -> None:
    atoms = {atom.subject: atom.id for atom in memory.list()}
    memory.relate(atoms["dead letters"], "depends_on", atoms["kubernetes"])
    assert answers(memory.recall("dead letter queue")) == {"dead letters", "kubernetes"}
    assert "dead letters" not in answers(memory.recall("k8s"))


@pytest.mark.parametrize("word", ["kubernets", "kubernetess", "kubernetse", "kubernetis"])
def test_one_typo_is_tolerated(memory: Memory, word: str) -> None:
    assert "kubernetes" in answers(memory.recall(f"{word} scheduling"))


@pytest.mark.parametrize("word", ["cubernetes", "kbernetes", "kuberetis", "k9s"])
def test_a_wrong_prefix_two_typos_and_short_names_are_not_tolerated(memory: Memory, word: str) -> None:
    hits = [hit for hit in memory.recall(word).hits if hit.atom.subject == "kubernetes"]
    assert not any({"exact", "entity"} & dict(hit.terms).keys() for hit in hits)


def test_conversation_text_is_matched_by_its_words_alone(memory: Memory) -> None:
    memory.capture([{"speaker": "Ann", "content": "The bakery opens at seven."}], session_id="s")
    memory.embed()
    result = memory.recall("When does the bakery open, and what about k8s?")
    assert "The bakery opens at seven." in [hit.text for hit in result.relevant]


@given(st.text("abcdefg", min_size=4, max_size=9))
def testslips_keep_the_beginning_and_hold_every_neighbour(word: str) -> None:
    near = set(spelling_variants(word))
    assert all(text[:CORRECT_PREFIX] == word[:CORRECT_PREFIX] for text in near)
    assert word[:CORRECT_PREFIX] + word[CORRECT_PREFIX + 1 :] in near
    assert word + "x" in near
    assert word[:-2] + word[-1] + word[-2] in near
