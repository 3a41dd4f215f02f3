"""Facts that hang together with what was found come along, with the links that led there; never by way of secrets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from town_conversations import needs_minilm, open_memory, remember_facts

from lamina import Hit, Memory
from lamina.recall.scoring_profiles import GRAPH_NEARNESS

QUESTION = "who repairs the espresso machine?"
MATCHES, LINKED = "Luca repairs the espresso machine.", "Orders go to Zagreb."


@pytest.fixture
def text_memory(tmp_path: Path) -> Iterator[Memory]:
    """Words alone: what shares none with the question is there by its links or not at all."""
    with open_memory(tmp_path / "vault", "none", "org:local:agent:ann") as memory:
        yield memory


def hit_of(memory: Memory, atom_id: str, **options: list[str]) -> Hit | None:
    return next((hit for hit in memory.recall(QUESTION, 100, **options).hits if hit.atom.id == atom_id), None)  # type: ignore[arg-type]


def test_a_fact_reached_only_by_a_relation_is_added_with_its_link(text_memory: Memory) -> None:
    start, end = remember_facts(text_memory, MATCHES), remember_facts(text_memory, LINKED)
    assert hit_of(text_memory, end) is None
    text_memory.relate(start, "depends_on", end, 0.75)
    hit = hit_of(text_memory, end)
    assert hit is not None
    assert [name for name, _ in hit.terms] == ["graph"]
    assert 0 < hit.relevance <= GRAPH_NEARNESS
    assert hit.links == ((start, "depends_on", end, 0.75),)
    assert hit.explain()["links"] == [[start, "depends_on", end, 0.75]]
    assert hit.why.startswith("links ")


def test_links_are_followed_in_both_directions(text_memory: Memory) -> None:
    start, end = remember_facts(text_memory, MATCHES), remember_facts(text_memory, LINKED)
    text_memory.relate(end, "supports", start)
    hit = hit_of(text_memory, end)
    assert hit is not None
    assert hit.links == ((end, "supports", start, 1.0),)


def test_a_fact_with_the_same_subject_is_added(text_memory: Memory) -> None:
    remember_facts(text_memory, MATCHES, subject="Luca")
    end = remember_facts(text_memory, LINKED, subject="Luca")
    apart = remember_facts(text_memory, "Orders go to Split.", subject="Mara")
    hit = hit_of(text_memory, end)
    assert hit is not None
    assert hit.links == ((end, "subject", "subject:luca", 1.0),)
    assert hit_of(text_memory, apart) is None


def test_a_subject_shared_by_everything_adds_nothing(text_memory: Memory) -> None:
    remember_facts(text_memory, MATCHES, subject="Luca")
    far = text_memory.remember_many([{"content": f"Order {n} goes to Zagreb.", "subject": "Luca"} for n in range(80)])
    ids = {outcome.atom.id for outcome in far.outcomes}
    assert not ids & {hit.atom.id for hit in text_memory.recall(QUESTION, 100).hits}


def test_a_weak_relation_is_not_followed(text_memory: Memory) -> None:
    start, end = remember_facts(text_memory, MATCHES), remember_facts(text_memory, LINKED)
    text_memory.relate(start, "depends_on", end, 0.19)
    assert hit_of(text_memory, end) is None
    text_memory.relate(start, "depends_on", end, 0.2)
    assert hit_of(text_memory, end) is not None


def test_the_walk_stops_after_two_hops_and_nearer_facts_count_more(text_memory: Memory) -> None:
    chain = [
        remember_facts(text_memory, MATCHES),
        *(remember_facts(text_memory, f"Order {n} goes to Zagreb.") for n in "abc"),
    ]
    for one, other in pairwise(chain):
        text_memory.relate(one, "leads_to", other)
    first, second, third = (hit_of(text_memory, item) for item in chain[1:])
    assert first is not None
    assert second is not None
    assert first.score > second.score > 0
    assert third is None


def test_ended_facts_are_not_added(text_memory: Memory) -> None:
    start, end = remember_facts(text_memory, MATCHES), remember_facts(text_memory, LINKED)
    text_memory.relate(start, "supports", end)
    text_memory.forget(end, "gone")
    assert hit_of(text_memory, end) is None
    assert hit_of(text_memory, end, include=["history"]) is not None


@pytest.mark.parametrize("embedder", ["light", pytest.param("minilm", marks=needs_minilm)])
def test_a_link_raises_a_low_ranked_semantic_match(tmp_path: Path, embedder: str) -> None:
    with open_memory(tmp_path / "vault", embedder) as memory:
        memory.remember_many({"content": f"Espresso cup {n} is white.", "subject": f"cup {n}"} for n in range(30))
        memory.remember_many({"content": f"The lamp {n} was a gift.", "subject": f"lamp {n}"} for n in range(30))
        start, end = remember_facts(memory, MATCHES), remember_facts(memory, LINKED)
        memory.embed()
        before = hit_of(memory, end)
        memory.relate(start, "depends_on", end)
        moved = hit_of(memory, end)
        assert before is not None
        assert moved is not None
        assert moved.score > before.score
        assert 0 < dict(moved.terms)["graph"] <= GRAPH_NEARNESS
        assert moved.links == ((start, "depends_on", end, 1.0),)


def test_an_unreadable_scope_is_never_walked(text_memory: Memory) -> None:
    start, beyond = remember_facts(text_memory, MATCHES), remember_facts(text_memory, LINKED)
    hidden = remember_facts(text_memory, "A secret of Ann.", private=True)
    text_memory.relate(start, "depends_on", hidden)
    text_memory.relate(beyond, "depends_on", hidden)
    assert hit_of(text_memory, hidden) is not None
    assert hit_of(text_memory, beyond) is not None
    with open_memory(text_memory.root, "none", "org:local:agent:bob") as bob:
        result = bob.recall(QUESTION, 100)
        assert [hit.atom.id for hit in result.hits] == [start]
        assert all(hidden not in link for hit in result.hits for link in hit.links)


def test_the_walk_stays_within_the_queried_scopes(text_memory: Memory) -> None:
    start = remember_facts(text_memory, MATCHES, subject="Luca")
    text = remember_facts(text_memory, LINKED, subject="Luca", private=True)
    text_memory.relate(text, "supports", start)
    assert hit_of(text_memory, text) is not None
    result = text_memory.recall(QUESTION, 100, scopes=["org:local"])
    assert [hit.atom.id for hit in result.hits] == [start]
    assert all(text not in link for hit in result.hits for link in hit.links)
