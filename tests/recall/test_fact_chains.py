"""A question that chains relations finds the facts it needs together, each naming what the next one is about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from town_conversations import EMBEDDERS, open_memory, remember_facts

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
    with open_memory(tmp_path / "vault", request.param) as memory:
        memory.remember_many([{"content": other} for other in OTHERS])
        yield memory


def hits(memory: Memory, question: str = QUESTION, **options: Any) -> dict[str, Hit]:
    memory.embed()
    return {hit.atom.id: hit for hit in memory.recall(question, 20, **options).hits}


def test_every_fact_of_a_chain_ranks_before_similar_text(memory: Memory) -> None:
    chain = [remember_facts(memory, text) for text in (AUTHOR, WIFE, CITY)]
    result = list(hits(memory))
    assert set(result[:4]) >= set(chain)


def test_a_hop_is_a_score_term_and_its_links_are_reported(memory: Memory) -> None:
    author, wife, city = (remember_facts(memory, text) for text in (AUTHOR, WIFE, CITY))
    result = hits(memory)
    end = result[city]
    assert 0 < dict(end.terms)["hop"] <= MAX_GAIN
    assert [link[:3] for link in end.links if link[1].startswith("names ")] == [
        (author, "names Piet Vandermeer", wife),
        (wife, "names Odile Santerre", city),
    ]
    for hit in result.values():
        explanation: Any = hit.explain()
        assert abs(max(0.0, sum(explanation["terms"].values())) - explanation["relevance"]) < 1e-9


def test_a_reached_fact_ranks_behind_the_one_that_led_to_it(memory: Memory) -> None:
    author = remember_facts(memory, AUTHOR)
    for text in (WIFE, CITY):
        remember_facts(memory, text)
    result = hits(memory)
    assert "hop" not in dict(result[author].terms)
    hopped = [hit for hit in result.values() if "hop" in dict(hit.terms)]
    assert hopped
    assert all(hit.relevance <= SHARE_PER_HOP * max(value.relevance for value in result.values()) for hit in hopped)


def test_no_hop_is_made_where_one_fact_has_every_query_word(memory: Memory) -> None:
    for text in (AUTHOR, WIFE, CITY):
        remember_facts(memory, text)
    result = hits(memory, "Who is the author of Heron Bay?")
    assert not any("hop" in dict(hit.terms) for hit in result.values())


def test_retracted_facts_are_neither_reached_nor_walked_through(memory: Memory) -> None:
    _, wife, city = (remember_facts(memory, text) for text in (AUTHOR, WIFE, CITY))
    memory.forget(wife, "they parted")
    result = hits(memory)
    assert wife not in result
    assert city not in result or "hop" not in dict(result[city].terms)


def test_hops_do_not_start_from_conversation_text(tmp_path: Path) -> None:
    with open_memory(tmp_path / "vault", "light", extractor="none") as memory:
        memory.capture([{"speaker": "Ann", "content": text} for text in (AUTHOR, WIFE, CITY)], session_id="s1")
        assert not any("hop" in dict(hit.terms) for hit in hits(memory).values())


def test_fast_recall_makes_no_hops(memory: Memory) -> None:
    for text in (AUTHOR, WIFE, CITY):
        remember_facts(memory, text)
    assert not any("hop" in dict(hit.terms) for hit in hits(memory, fast=True).values())


def test_hops_are_deterministic(memory: Memory) -> None:
    for text in (AUTHOR, WIFE, CITY):
        remember_facts(memory, text)
    first, second = hits(memory), hits(memory)
    assert [hit.explain() for hit in first.values()] == [hit.explain() for hit in second.values()]


def test_names_are_read_whole_and_with_their_ending() -> None:
    assert [result for result, _ in names_in("Ursula K. Brand is a citizen of Kingdom of Aldmark.")] == [
        "Ursula K. Brand",
        "Kingdom of Aldmark",
        "Aldmark",
    ]
    assert [result for result, _ in names_in("Ivo Maric is associated with the sport of water polo.")] == [
        "Ivo Maric",
        "water polo",
    ]


@given(st.text(max_size=200))
def test_names_occur_in_the_text_they_were_read_from(text: str) -> None:
    assert all(result in text and name for result, name in names_in(text))
