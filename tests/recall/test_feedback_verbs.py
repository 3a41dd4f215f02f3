"""Feedback, core memories, plans and context for an agent.

Covers `lamina.recall.starting_context` and `lamina.recall.starting_context`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from town_conversations import NOON, capture_session, open_memory, remember_facts

import lamina
from lamina import FixedClock, InvalidInput, Memory, NotFound
from lamina.recall.context_packing import minimum_budget
from lamina.recall.recall_result import bundled_token_counter


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path / "vault", "light") as result:
        yield result


def tea(memory: Memory) -> list[str]:
    return [remember_facts(memory, f"Tea {word}.", subject=word) for word in ("from Assam", "with milk", "at five")]


def signals(memory: Memory, id_: str) -> tuple[float, int]:
    result = memory.signals(id_)
    return result.quality_score, result.recall_count


# Feedback


@pytest.mark.parametrize(("verdict", "quality"), [("up", 1.1), ("down", 1.0), ("wrong", 0.8)])
def test_a_verdict_moves_the_cited_atoms_and_slightly_the_ignored_ones(
    memory: Memory, verdict: str, quality: float
) -> None:
    ids = tea(memory)
    result = memory.recall("tea")
    assert memory.feedback(result.id, [ids[1]], verdict) == [hit.atom.id for hit in result.hits]
    assert signals(memory, ids[1]) == (quality, 1)
    assert memory.signals(ids[1]).last_recalled_at == memory.get(ids[2]).recorded_at
    assert {signals(memory, ids[0]), signals(memory, ids[2])} == {(0.95, 0)}


def test_being_shown_or_judged_without_a_citation_counts_nothing(memory: Memory) -> None:
    ids = tea(memory)
    for verdict in ("up", "down", "wrong"):
        assert memory.feedback(memory.recall("tea").id, [], verdict) == []
    assert {signals(memory, atom_id) for atom_id in ids} == {(1.0, 0)}


def test_a_recall_counts_once(memory: Memory) -> None:
    ids = tea(memory)
    result = memory.recall("tea")
    memory.feedback(result.id, [ids[0]])
    assert memory.feedback(result.id, [ids[0]]) == []
    assert memory.feedback(result.id, [ids[1]], "wrong") == []
    assert signals(memory, ids[0]) == (1.1, 1)
    memory.feedback(memory.recall("tea").id, [ids[0][-8:]])
    assert signals(memory, ids[0]) == (1.2, 2)


def test_quality_stays_within_its_bounds(memory: Memory) -> None:
    good, bad = remember_facts(memory, "Tea is good."), remember_facts(memory, "Tea is bad.")
    for _ in range(12):
        memory.feedback(memory.recall("tea").id, [good])
        memory.feedback(memory.recall("tea").id, [bad], "wrong")
    assert 0.1 <= signals(memory, bad)[0] < 0.2
    for _ in range(30):
        memory.feedback(memory.recall("tea").id, [good])
    assert signals(memory, good)[0] == 2.0
    assert signals(memory, bad)[0] == 0.1


def test_feedback_on_unknown_recalls_or_citations_is_refused(memory: Memory) -> None:
    ids, other = tea(memory), remember_facts(memory, "Unasked.")
    result = memory.recall("tea", 2)
    unseen = next(atom_id for atom_id in ids if atom_id not in {hit.atom.id for hit in result.hits})
    with pytest.raises(NotFound, match="recall again"):
        memory.feedback("0123456789abcdef", [ids[0]])
    with pytest.raises(InvalidInput, match="not among the hits"):
        memory.feedback(result.id, [unseen])
    with pytest.raises(InvalidInput, match="up, down, wrong"):
        memory.feedback(result.id, [ids[0]], "great")
    with pytest.raises(NotFound):
        memory.feedback(result.id, ["zzzzzzzz"])
    assert {signals(memory, item) for item in (*ids, other)} == {(1.0, 0)}


def test_another_scope_can_neither_judge_nor_be_cited(memory: Memory) -> None:
    ids = tea(memory)
    result = memory.recall("tea")
    with open_memory(memory.root, "light", "org:other") as other:
        secret = remember_facts(other, "Tea of others.")
        fields = other.recall("tea")
        with pytest.raises(NotFound):
            other.feedback(result.id, [secret])
        with pytest.raises(NotFound):
            other.cite([ids[0]])
        with pytest.raises(NotFound):
            memory.feedback(result.id, [secret])
        with pytest.raises(NotFound):
            memory.feedback(fields.id, [ids[0]])
    assert {signals(memory, atom_id) for atom_id in ids} == {(1.0, 0)}


def test_feedback_may_come_from_another_process_and_is_stored(memory: Memory) -> None:
    ids = tea(memory)
    result = memory.recall("tea")
    memory.close()
    with open_memory(memory.root, "light") as again:
        again.feedback(result.id, [ids[0]])
        again.upkeep.rebuild()
        assert signals(again, ids[0]) == (1.1, 1)


def test_a_use_can_be_reported_without_a_recall(memory: Memory) -> None:
    ids = tea(memory)
    assert memory.cite([ids[0], ids[0][-8:]]) == [ids[0]]
    assert signals(memory, ids[0]) == (1.0, 1)
    with pytest.raises(NotFound):
        memory.cite(["zzzzzzzz"])


def test_a_dry_run_counts_nothing_and_leaves_the_recall_open(memory: Memory) -> None:
    ids = tea(memory)
    result = memory.recall("tea")
    with memory.trial() as trial:
        assert trial.feedback(result.id, [ids[0]]) != []
        assert signals(trial, ids[0]) == (1.1, 1)
    assert signals(memory, ids[0]) == (1.0, 0)
    assert memory.feedback(result.id, [ids[0]]) != []
    assert signals(memory, ids[0]) == (1.1, 1)


def test_quality_changes_the_ranking_by_a_factor_between_a_half_and_one_and_a_half(memory: Memory) -> None:
    one, other = (
        remember_facts(memory, "Tea is green.", subject="a"),
        remember_facts(memory, "Tea is green.", subject="b"),
    )
    first = memory.recall("green tea").hits[0].atom.id
    second = other if first == one else one
    memory.feedback(memory.recall("green tea").id, [second])
    assert memory.recall("green tea").hits[0].atom.id == second
    for _ in range(12):
        memory.feedback(memory.recall("green tea").id, [second])
    weights: dict[str, float] = {hit.atom.id: dict(hit.weights)["quality"] for hit in memory.recall("green tea").hits}
    assert weights[second] == pytest.approx(2**0.5)
    assert 0.5 <= weights[first] < 0.8
    for _ in range(12):
        memory.feedback(memory.recall("green tea").id, [first], "wrong")
    assert {hit.atom.id: dict(hit.weights)["quality"] for hit in memory.recall("green tea").hits}[first] == 0.5


# Core memories, planning, context


def test_the_core_is_pinned_atoms_first_then_by_importance(memory: Memory) -> None:
    ordinary = remember_facts(memory, "The bin is blue.", importance=0.99)
    low = remember_facts(memory, "Ann is tall.", durability="core", importance=0.2)
    high = remember_facts(memory, "Ann is left-handed.", durability="core", importance=0.9)
    pinned = remember_facts(memory, "Ann is allergic to nuts.", pinned=True, importance=0.1)
    memory.forget(remember_facts(memory, "Ann is a pilot.", pinned=True), "wrong")
    capture_session(memory, ("Ann", "Hello."))
    assert [atom.id for atom in memory.top()] == [pinned, high, low]
    assert [atom.id for atom in memory.top(2)] == [pinned, high]
    assert ordinary not in {atom.id for atom in memory.top(100)}


def test_a_plan_context_has_three_of_each(memory: Memory) -> None:
    for n in range(5):
        remember_facts(memory, f"Prefers dinner guests to arrive at {n + 5}.", kind="preference", subject=f"guests {n}")
        remember_facts(memory, f"For a dinner, do step {n} first.", kind="rule", subject=f"rule {n}")
        remember_facts(memory, f"The dinner table seats {n + 4}.", subject=f"table {n}")
    capture_session(memory, ("Ann", "Let us have a dinner."))
    plan = memory.plan_context("a dinner for guests")
    assert (len(plan.profile), len(plan.procedural), len(plan.semantic)) == (3, 3, 3)
    assert not any(hit.atom.is_segment for hits in (plan.profile, plan.procedural, plan.semantic) for hit in hits)
    text = plan.text(2000)
    assert [line for line in text.splitlines() if line.startswith("## ")] == ["## profile", "## rules", "## facts"]
    assert text.count("\n- [") == 9
    count = bundled_token_counter()
    assert count(plan.text(150, count=count)) <= 150


def test_a_plan_about_an_unknown_topic_says_so(memory: Memory) -> None:
    assert "nothing known" in memory.plan_context("a dinner").text()


@pytest.mark.parametrize("budget", [20, 50, 100, 300, 1000])
def test_a_context_stays_within_the_count_of_the_bundled_tokenizer(memory: Memory, budget: int) -> None:
    for n in range(30):
        remember_facts(memory, f"Tea number {n} is good. " + "Très bon, 茶! " * n, subject=str(n))
    remember_facts(memory, "Ann is allergic to nuts.", pinned=True)
    count = bundled_token_counter()
    assert count(memory.recall("tea", k=30).context(budget)) <= max(budget, minimum_budget(count))
    assert len(memory.recall("tea", k=30).context(budget, count=len)) <= max(budget, minimum_budget(len))


def test_a_context_contains_the_core_memories_for_any_query(memory: Memory) -> None:
    remember_facts(memory, "Tea is served at five.")
    remember_facts(memory, "Ann is allergic to nuts.", pinned=True)
    lines = memory.recall("when is tea?", k=1).context().splitlines()
    assert lines[1] == "## core"
    assert lines[2].endswith("Ann is allergic to nuts.")
    assert lines[-2].endswith("Tea is served at five.")


def test_feedback_works_without_settings(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault", clock=FixedClock(NOON), watch=False) as plain:
        (id_,) = [plain.remember("Tea.").atom.id]
        plain.feedback(plain.recall("tea").id, [id_])
        assert signals(plain, id_) == (1.1, 1)
