"""A question that chains relations finds the facts it needs together, each naming what the next one is about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from town import EMBEDDERS, opened, remembered

from lamina import Hit, Memory
from lamina.recall.fact_chains import MAX_GAIN, SHARE_PER_HOP, names_in

QUESTION = "In which city was the person born who is married to the author of Heron Bay?"
AUTHOR, WIFE = "The author of Heron Bay is Piet Vandermeer.", "Piet Vandermeer is married to Odile Santerre."
CITY = "Odile Santerre was born in the city of Ghent."
OTHERS = [
    f"{text} {place}."
    for place, who in (("Oslo", "Mara Lind"), ("Quito", "Jon Abbey"), ("Tunis", "Rafe Colby"), ("Kyoto", "Una Peel"))
    for text in (f"{who} was born in the city of", f"{who} worked in the city of", f"An author {who} met lives in")
]


@pytest.fixture(params=EMBEDDERS)
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "vault", request.param) as memory:
        memory.remember_many([{"content": other} for other in OTHERS])
        yield memory


def hits(memory: Memory, question: str = QUESTION, **asked: Any) -> dict[str, Hit]:
    memory.embed()
    return {hit.atom.id: hit for hit in memory.recall(question, 20, **asked).hits}


def test_every_fact_of_a_chain_comes_before_what_only_sounds_alike(memory: Memory) -> None:
    chain = [remembered(memory, each) for each in (AUTHOR, WIFE, CITY)]
    found = list(hits(memory))
    assert set(found[:4]) >= set(chain)


def test_a_hop_is_a_term_of_the_score_and_its_links_are_told(memory: Memory) -> None:
    author, wife, city = (remembered(memory, each) for each in (AUTHOR, WIFE, CITY))
    found = hits(memory)
    end = found[city]
    assert 0 < dict(end.terms)["hop"] <= MAX_GAIN
    assert [link[:3] for link in end.links if link[1].startswith("names ")] == [
        (author, "names Piet Vandermeer", wife),
        (wife, "names Odile Santerre", city),
    ]
    for hit in found.values():
        told: Any = hit.explain()
        assert abs(max(0.0, sum(told["terms"].values())) - told["relevance"]) < 1e-9


def test_what_was_reached_stands_behind_what_led_to_it(memory: Memory) -> None:
    author = remembered(memory, AUTHOR)
    for each in (WIFE, CITY):
        remembered(memory, each)
    found = hits(memory)
    assert "hop" not in dict(found[author].terms)
    hopped = [hit for hit in found.values() if "hop" in dict(hit.terms)]
    assert hopped
    assert all(hit.relevance <= SHARE_PER_HOP * max(each.relevance for each in found.values()) for hit in hopped)


def test_no_hop_where_one_fact_has_every_word_asked_for(memory: Memory) -> None:
    for each in (AUTHOR, WIFE, CITY):
        remembered(memory, each)
    found = hits(memory, "Who is the author of Heron Bay?")
    assert not any("hop" in dict(hit.terms) for hit in found.values())


def test_what_was_taken_back_is_neither_reached_nor_walked_through(memory: Memory) -> None:
    _, wife, city = (remembered(memory, each) for each in (AUTHOR, WIFE, CITY))
    memory.forget(wife, "they parted")
    found = hits(memory)
    assert wife not in found
    assert city not in found or "hop" not in dict(found[city].terms)


def test_words_of_a_talk_are_not_hopped_from(tmp_path: Path) -> None:
    with opened(tmp_path / "vault", "light", extractor="none") as memory:
        memory.capture([{"speaker": "Ann", "content": each} for each in (AUTHOR, WIFE, CITY)], session_id="s1")
        assert not any("hop" in dict(hit.terms) for hit in hits(memory).values())


def test_a_quick_look_makes_no_hops(memory: Memory) -> None:
    for each in (AUTHOR, WIFE, CITY):
        remembered(memory, each)
    assert not any("hop" in dict(hit.terms) for hit in hits(memory, fast=True).values())


def test_the_same_question_hops_the_same_way(memory: Memory) -> None:
    for each in (AUTHOR, WIFE, CITY):
        remembered(memory, each)
    first, second = hits(memory), hits(memory)
    assert [hit.explain() for hit in first.values()] == [hit.explain() for hit in second.values()]


def test_names_are_read_whole_and_the_ending_counts_as_one() -> None:
    assert [shown for shown, _ in names_in("Ursula K. Brand is a citizen of Kingdom of Aldmark.")] == [
        "Ursula K. Brand",
        "Kingdom of Aldmark",
        "Aldmark",
    ]
    assert [shown for shown, _ in names_in("Ivo Maric is associated with the sport of water polo.")] == [
        "Ivo Maric",
        "water polo",
    ]


@given(st.text(max_size=200))
def test_names_stand_in_the_text_they_were_read_from(text: str) -> None:
    assert all(shown in text and name for shown, name in names_in(text))
