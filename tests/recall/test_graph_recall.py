"""Facts that hang together with what was found come along, with the links that led there; never by way of secrets."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from town import needs_minilm, opened, remembered

from lamina import Hit, Memory
from lamina.recall.scoring_profiles import GRAPH_NEARNESS

QUESTION = "who repairs the espresso machine?"
FOUND, FAR = "Luca repairs the espresso machine.", "Orders go to Zagreb."


@pytest.fixture
def words(tmp_path: Path) -> Iterator[Memory]:
    """Words alone: what shares none with the question is there by its links or not at all."""
    with opened(tmp_path / "vault", "none", "org:local:agent:ann") as memory:
        yield memory


def hit_of(memory: Memory, atom_id: str, **asked: list[str]) -> Hit | None:
    return next((hit for hit in memory.recall(QUESTION, 100, **asked).hits if hit.atom.id == atom_id), None)  # type: ignore[arg-type]


def test_a_fact_reached_only_by_a_relation_is_brought_in_with_its_link(words: Memory) -> None:
    start, end = remembered(words, FOUND), remembered(words, FAR)
    assert hit_of(words, end) is None
    words.relate(start, "depends_on", end, 0.75)
    brought = hit_of(words, end)
    assert brought is not None
    assert [name for name, _ in brought.terms] == ["graph"]
    assert 0 < brought.relevance <= GRAPH_NEARNESS
    assert brought.links == ((start, "depends_on", end, 0.75),)
    assert brought.explain()["links"] == [[start, "depends_on", end, 0.75]]
    assert brought.why.startswith("links ")


def test_a_link_leads_both_ways(words: Memory) -> None:
    start, end = remembered(words, FOUND), remembered(words, FAR)
    words.relate(end, "supports", start)
    brought = hit_of(words, end)
    assert brought is not None
    assert brought.links == ((end, "supports", start, 1.0),)


def test_a_fact_with_the_same_subject_is_brought_in(words: Memory) -> None:
    remembered(words, FOUND, subject="Luca")
    end = remembered(words, FAR, subject="Luca")
    apart = remembered(words, "Orders go to Split.", subject="Mara")
    brought = hit_of(words, end)
    assert brought is not None
    assert brought.links == ((end, "subject", "subject:luca", 1.0),)
    assert hit_of(words, apart) is None


def test_a_subject_that_everything_hangs_on_says_nothing(words: Memory) -> None:
    remembered(words, FOUND, subject="Luca")
    far = words.remember_many([{"content": f"Order {n} goes to Zagreb.", "subject": "Luca"} for n in range(80)])
    ids = {outcome.atom.id for outcome in far.outcomes}
    assert not ids & {hit.atom.id for hit in words.recall(QUESTION, 100).hits}


def test_a_weak_relation_is_not_walked(words: Memory) -> None:
    start, end = remembered(words, FOUND), remembered(words, FAR)
    words.relate(start, "depends_on", end, 0.19)
    assert hit_of(words, end) is None
    words.relate(start, "depends_on", end, 0.2)
    assert hit_of(words, end) is not None


def test_the_walk_ends_after_two_hops_and_what_is_nearer_counts_more(words: Memory) -> None:
    chain = [remembered(words, FOUND), *(remembered(words, f"Order {n} goes to Zagreb.") for n in "abc")]
    for one, other in pairwise(chain):
        words.relate(one, "leads_to", other)
    first, second, third = (hit_of(words, each) for each in chain[1:])
    assert first is not None
    assert second is not None
    assert first.score > second.score > 0
    assert third is None


def test_what_has_ended_is_not_brought_in(words: Memory) -> None:
    start, end = remembered(words, FOUND), remembered(words, FAR)
    words.relate(start, "supports", end)
    words.forget(end, "gone")
    assert hit_of(words, end) is None
    assert hit_of(words, end, include=["history"]) is not None


@pytest.mark.parametrize("embedder", ["light", pytest.param("minilm", marks=needs_minilm)])
def test_a_link_lifts_what_meaning_found_far_behind(tmp_path: Path, embedder: str) -> None:
    with opened(tmp_path / "vault", embedder) as memory:
        memory.remember_many({"content": f"Espresso cup {n} is white.", "subject": f"cup {n}"} for n in range(30))
        memory.remember_many({"content": f"The lamp {n} was a gift.", "subject": f"lamp {n}"} for n in range(30))
        start, end = remembered(memory, FOUND), remembered(memory, FAR)
        memory.embed()
        before = hit_of(memory, end)
        memory.relate(start, "depends_on", end)
        moved = hit_of(memory, end)
        assert before is not None
        assert moved is not None
        assert moved.score > before.score
        assert 0 < dict(moved.terms)["graph"] <= GRAPH_NEARNESS
        assert moved.links == ((start, "depends_on", end, 1.0),)


def test_a_scope_that_may_not_be_read_is_never_walked(words: Memory) -> None:
    start, beyond = remembered(words, FOUND), remembered(words, FAR)
    hidden = remembered(words, "A secret of Ann.", private=True)
    words.relate(start, "depends_on", hidden)
    words.relate(beyond, "depends_on", hidden)
    assert hit_of(words, hidden) is not None
    assert hit_of(words, beyond) is not None
    with opened(words.root, "none", "org:local:agent:bob") as bob:
        found = bob.recall(QUESTION, 100)
        assert [hit.atom.id for hit in found.hits] == [start]
        assert all(hidden not in link for hit in found.hits for link in hit.links)


def test_the_walk_keeps_to_the_scopes_that_were_asked_for(words: Memory) -> None:
    start = remembered(words, FOUND, subject="Luca")
    own = remembered(words, FAR, subject="Luca", private=True)
    words.relate(own, "supports", start)
    assert hit_of(words, own) is not None
    found = words.recall(QUESTION, 100, scopes=["org:local"])
    assert [hit.atom.id for hit in found.hits] == [start]
    assert all(own not in link for hit in found.hits for link in hit.links)
