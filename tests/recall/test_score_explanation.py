"""Terms add and weights multiply to the score on every path of recall; explaining counts nothing."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import pytest
from town_conversations import EMBEDDERS, open_memory, populate, questions

from lamina import Memory

QUESTIONS = [*questions(count=10), "what did Ann say on 3 November 2026?"]


@pytest.fixture(scope="module", params=EMBEDDERS)
def memory(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with open_memory(tmp_path_factory.mktemp("vault") / "vault", request.param) as opened_once:
        populate(opened_once, sessions=12)
        yield opened_once


@pytest.mark.parametrize("way", [{}, {"fast": True}, {"ranking": "plain"}], ids=["closely", "fast", "plain"])
def test_terms_add_and_weights_multiply_to_the_score(memory: Memory, way: dict[str, Any]) -> None:
    result = set()
    for question in QUESTIONS:
        for hit in memory.recall(question, 20, **way).hits:
            explanation: Any = hit.explain()
            assert abs(max(0.0, sum(explanation["terms"].values())) - explanation["relevance"]) < 1e-9
            assert abs(explanation["relevance"] * prod(explanation["weights"].values()) - explanation["score"]) < 1e-9
            assert explanation["score"] == hit.score
            assert all(0.5 <= weight <= 1.5 for weight in explanation["weights"].values())
            if explanation["words"] and "ranking" not in way:
                assert abs(sum(explanation["words"].values()) - explanation["terms"]["text"]) < 1e-9
            result |= set(explanation["terms"])
    if "ranking" in way:
        assert result == {"exact", "summary", "metadata", "status", "recency"}
    else:
        assert {"text", "speaker", "time", "question"} <= result


def test_fast_recall_leaves_out_late_interaction(memory: Memory) -> None:
    def terms(**way: Any) -> set[str]:
        result = [memory.recall(question, **way) for question in QUESTIONS]
        return {name for item in result for hit in item.hits for name, _ in hit.terms}

    close = {"passage", "window", "session"}
    assert not close & terms(fast=True)
    if memory.engine.models.choice.light is not None:
        assert close | {"vector"} <= terms()
        assert "vector" in terms(fast=True)
    else:
        assert not (close | {"vector"}) & terms()


def test_every_reason_is_one_line(memory: Memory) -> None:
    for question in QUESTIONS:
        for way in ({}, {"fast": True}, {"ranking": "plain"}):
            for hit in memory.recall(question, **way).hits:
                assert hit.why.strip()
                assert len(hit.why.splitlines()) == 1


def test_hits_report_their_rank_in_each_channel(memory: Memory) -> None:
    ranks: dict[str, list[tuple[int, float]]] = {}
    result = memory.recall("how much was the violin?", 100)
    for hit in result.hits:
        for name, rank, score in hit.channels:
            ranks.setdefault(name, []).append((rank, score))
    riding = sum(len(hit.statements) for hit in result.hits)
    assert ("vector" in ranks) == (memory.engine.models.choice.light is not None)
    for ranked in ranks.values():
        ranked.sort(key=lambda item: (-item[1], item[0]))
        assert [rank for rank, _ in ranked] == sorted(rank for rank, _ in ranked)
        assert ranked[0][0] <= 1 + riding


def test_recalling_and_explaining_count_nothing(memory: Memory) -> None:
    before = memory.journal()
    for question in QUESTIONS:
        result = memory.recall(question)
        _ = [(hit.explain(), hit.why, hit.score) for hit in result.hits]
        result.context()
        for hit in result.hits:
            signals = memory.signals(hit.atom.id)
            assert (signals.quality_score, signals.recall_count, signals.last_recalled_at) == (1.0, 0, None)
    memory.plan_context("a party")
    memory.top()
    assert memory.journal() == before


def test_the_parsed_query_is_reported(memory: Memory) -> None:
    fields = dict(memory.recall("how many times did Ann go to Oslo in October 2026?").understood)
    assert fields["shape"] == "count"
    assert fields["speakers"] == "Ann"
    assert "October 2026" in fields["time"]
    assert dict(memory.recall("what did you recommend?").understood)["asks the assistant"] == "yes"


def test_a_greeting_recalls_nothing(memory: Memory) -> None:
    for text in ("thanks!", "Hello there", "ok"):
        assert memory.recall(text).hits == ()


def test_a_hit_is_dropped_with_its_deleted_file(tmp_path: Path) -> None:
    with open_memory(tmp_path / "vault") as fields:
        atom = fields.remember("The kettle is in the attic.").atom
        assert [hit.atom.id for hit in fields.recall("where do I boil water?").hits] == [atom.id]
        (fields.root / str(fields.path_of(atom.id))).unlink()
        assert fields.recall("where do I boil water?").hits == ()
