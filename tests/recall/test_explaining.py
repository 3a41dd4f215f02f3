"""The terms add and the weights multiply back to the score, whichever way recall took; explaining counts nothing."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import pytest
from town import EMBEDDERS, opened, populate, questions

from lamina import Memory

ASKED = [*questions(count=10), "what did Ann say on 3 November 2026?"]


@pytest.fixture(scope="module", params=EMBEDDERS)
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with opened(tmp_path_factory.mktemp("vault") / "vault", request.param) as opened_once:
        populate(opened_once, sessions=12)
        yield opened_once


@pytest.mark.parametrize("way", [{}, {"fast": True}, {"ranking": "plain"}], ids=["closely", "fast", "plain"])
def test_terms_add_and_weights_multiply_back(memory: Memory, way: dict[str, Any]) -> None:
    seen = set()
    for question in ASKED:
        for hit in memory.recall(question, 20, **way).hits:
            told: Any = hit.explain()
            assert abs(max(0.0, sum(told["terms"].values())) - told["relevance"]) < 1e-9
            assert abs(told["relevance"] * prod(told["weights"].values()) - told["score"]) < 1e-9
            assert told["score"] == hit.score
            assert all(0.5 <= weight <= 1.5 for weight in told["weights"].values())
            if told["words"] and "ranking" not in way:
                assert abs(sum(told["words"].values()) - told["terms"]["text"]) < 1e-9
            seen |= set(told["terms"])
    if "ranking" in way:
        assert seen == {"exact", "summary", "metadata", "status", "recency"}
    else:
        assert {"text", "speaker", "time", "question"} <= seen


def test_the_closer_look_is_what_fast_leaves_out(memory: Memory) -> None:
    def terms(**way: Any) -> set[str]:
        found = [memory.recall(question, **way) for question in ASKED]
        return {name for each in found for hit in each.hits for name, _ in hit.terms}

    close = {"passage", "window", "session"}
    assert not close & terms(fast=True)
    if memory.models.light is not None:
        assert close | {"vector"} <= terms()
        assert "vector" in terms(fast=True)
    else:
        assert not (close | {"vector"}) & terms()


def test_every_reason_is_one_line(memory: Memory) -> None:
    for question in ASKED:
        for way in ({}, {"fast": True}, {"ranking": "plain"}):
            for hit in memory.recall(question, **way).hits:
                assert hit.why.strip()
                assert len(hit.why.splitlines()) == 1


def test_hits_say_how_each_channel_alone_ranked_them(memory: Memory) -> None:
    ranks: dict[str, list[tuple[int, float]]] = {}
    found = memory.recall("how much was the violin?", 100)
    for hit in found.hits:
        for name, rank, score in hit.channels:
            ranks.setdefault(name, []).append((rank, score))
    riding = sum(len(hit.statements) for hit in found.hits)
    assert ("vector" in ranks) == (memory.models.light is not None)
    for ranked in ranks.values():
        ranked.sort(key=lambda each: (-each[1], each[0]))
        assert [rank for rank, _ in ranked] == sorted(rank for rank, _ in ranked)
        assert ranked[0][0] <= 1 + riding


def test_recalling_and_explaining_count_nothing(memory: Memory) -> None:
    before = memory.journal()
    for question in ASKED:
        found = memory.recall(question)
        _ = [(hit.explain(), hit.why, hit.score) for hit in found.hits]
        found.context()
        for hit in found.hits:
            signals = memory.signals(hit.atom.id)
            assert (signals.quality_score, signals.recall_count, signals.last_recalled_at) == (1.0, 0, None)
    memory.plan_context("a party")
    memory.top()
    assert memory.journal() == before


def test_what_was_read_out_of_a_question_is_told(memory: Memory) -> None:
    found = dict(memory.recall("how many times did Ann go to Oslo in October 2026?").understood)
    assert found["shape"] == "count"
    assert found["speakers"] == "Ann"
    assert "October 2026" in found["time"]
    assert dict(memory.recall("what did you recommend?").understood)["asks the assistant"] == "yes"


def test_a_greeting_recalls_nothing(memory: Memory) -> None:
    for said in ("thanks!", "Hello there", "ok"):
        assert memory.recall(said).hits == ()


def test_a_file_that_is_gone_takes_its_hit_with_it(tmp_path: Path) -> None:
    with opened(tmp_path / "vault") as own:
        atom = own.remember("The kettle is in the attic.").atom
        assert [hit.atom.id for hit in own.recall("where do I boil water?").hits] == [atom.id]
        (own.root / str(own.path_of(atom.id))).unlink()
        assert own.recall("where do I boil water?").hits == ()
