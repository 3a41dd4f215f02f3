"""What use teaches, what is told whatever is asked, and what an agent is handed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from town import NOON, opened, remembered, says

import lamina
from lamina import FixedClock, InvalidInput, Memory, NotFound
from lamina.recall.context_packing import minimum_budget
from lamina.recall.hit import bundled_token_counter


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with opened(tmp_path / "vault", "light") as made:
        yield made


def tea(memory: Memory) -> list[str]:
    return [remembered(memory, f"Tea {word}.", subject=word) for word in ("from Assam", "with milk", "at five")]


def signals(memory: Memory, id_: str) -> tuple[float, int]:
    found = memory.signals(id_)
    return found.quality_score, found.recall_count


# Feedback


@pytest.mark.parametrize(("verdict", "quality"), [("up", 1.1), ("down", 1.0), ("wrong", 0.8)])
def test_a_verdict_moves_what_was_cited_and_a_little_what_was_passed_over(
    memory: Memory, verdict: str, quality: float
) -> None:
    ids = tea(memory)
    found = memory.recall("tea")
    assert memory.feedback(found.id, [ids[1]], verdict) == [hit.atom.id for hit in found.hits]
    assert signals(memory, ids[1]) == (quality, 1)
    assert memory.signals(ids[1]).last_recalled_at == NOON
    assert {signals(memory, ids[0]), signals(memory, ids[2])} == {(0.95, 0)}


def test_being_shown_counts_nothing_and_neither_does_a_verdict_without_a_citation(memory: Memory) -> None:
    ids = tea(memory)
    for verdict in ("up", "down", "wrong"):
        assert memory.feedback(memory.recall("tea").id, [], verdict) == []
    assert {signals(memory, atom_id) for atom_id in ids} == {(1.0, 0)}


def test_a_recall_is_learnt_from_once(memory: Memory) -> None:
    ids = tea(memory)
    found = memory.recall("tea")
    memory.feedback(found.id, [ids[0]])
    assert memory.feedback(found.id, [ids[0]]) == []
    assert memory.feedback(found.id, [ids[1]], "wrong") == []
    assert signals(memory, ids[0]) == (1.1, 1)
    memory.feedback(memory.recall("tea").id, [ids[0][-8:]])
    assert signals(memory, ids[0]) == (1.2, 2)


def test_quality_stays_within_its_bounds(memory: Memory) -> None:
    good, bad = remembered(memory, "Tea is good."), remembered(memory, "Tea is bad.")
    for _ in range(12):
        memory.feedback(memory.recall("tea").id, [good])
        memory.feedback(memory.recall("tea").id, [bad], "wrong")
    assert 0.1 <= signals(memory, bad)[0] < 0.2
    for _ in range(30):
        memory.feedback(memory.recall("tea").id, [good])
    assert signals(memory, good)[0] == 2.0
    assert signals(memory, bad)[0] == 0.1


def test_feedback_on_what_nobody_recalled_or_cited_is_refused(memory: Memory) -> None:
    ids, other = tea(memory), remembered(memory, "Unasked.")
    found = memory.recall("tea", 2)
    unseen = next(atom_id for atom_id in ids if atom_id not in {hit.atom.id for hit in found.hits})
    with pytest.raises(NotFound, match="recall again"):
        memory.feedback("0123456789abcdef", [ids[0]])
    with pytest.raises(InvalidInput, match="not among the hits"):
        memory.feedback(found.id, [unseen])
    with pytest.raises(InvalidInput, match="up, down, wrong"):
        memory.feedback(found.id, [ids[0]], "great")
    with pytest.raises(NotFound):
        memory.feedback(found.id, ["zzzzzzzz"])
    assert {signals(memory, each) for each in (*ids, other)} == {(1.0, 0)}


def test_another_scope_can_neither_judge_nor_be_cited(memory: Memory) -> None:
    ids = tea(memory)
    found = memory.recall("tea")
    with opened(memory.root, "light", "org:other") as other:
        secret = remembered(other, "Tea of others.")
        own = other.recall("tea")
        with pytest.raises(NotFound):
            other.feedback(found.id, [secret])
        with pytest.raises(NotFound):
            other.cite([ids[0]])
        with pytest.raises(NotFound):
            memory.feedback(found.id, [secret])
        with pytest.raises(NotFound):
            memory.feedback(own.id, [ids[0]])
    assert {signals(memory, atom_id) for atom_id in ids} == {(1.0, 0)}


def test_feedback_may_come_from_another_run_and_the_lesson_stays(memory: Memory) -> None:
    ids = tea(memory)
    found = memory.recall("tea")
    memory.close()
    with opened(memory.root, "light") as again:
        again.feedback(found.id, [ids[0]])
        again.rebuild()
        assert signals(again, ids[0]) == (1.1, 1)


def test_a_use_can_be_told_without_a_recall(memory: Memory) -> None:
    ids = tea(memory)
    assert memory.cite([ids[0], ids[0][-8:]]) == [ids[0]]
    assert signals(memory, ids[0]) == (1.0, 1)
    with pytest.raises(NotFound):
        memory.cite(["zzzzzzzz"])


def test_a_dry_run_learns_nothing_and_leaves_the_recall_to_be_learnt_from(memory: Memory) -> None:
    ids = tea(memory)
    found = memory.recall("tea")
    with memory.trial():
        assert memory.feedback(found.id, [ids[0]]) != []
        assert signals(memory, ids[0]) == (1.1, 1)
    assert signals(memory, ids[0]) == (1.0, 0)
    assert memory.feedback(found.id, [ids[0]]) != []
    assert signals(memory, ids[0]) == (1.1, 1)


def test_quality_moves_the_ranking_within_a_half_and_one_and_a_half(memory: Memory) -> None:
    one, other = remembered(memory, "Tea is green.", subject="a"), remembered(memory, "Tea is green.", subject="b")
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


def test_the_core_is_pinned_ones_then_by_importance(memory: Memory) -> None:
    ordinary = remembered(memory, "The bin is blue.", importance=0.99)
    low = remembered(memory, "Ann is tall.", durability="core", importance=0.2)
    high = remembered(memory, "Ann is left-handed.", durability="core", importance=0.9)
    pinned = remembered(memory, "Ann is allergic to nuts.", pinned=True, importance=0.1)
    memory.forget(remembered(memory, "Ann is a pilot.", pinned=True), "wrong")
    says(memory, ("Ann", "Hello."))
    assert [atom.id for atom in memory.top()] == [pinned, high, low]
    assert [atom.id for atom in memory.top(2)] == [pinned, high]
    assert ordinary not in {atom.id for atom in memory.top(100)}


def test_a_plan_gets_three_of_each(memory: Memory) -> None:
    for n in range(5):
        remembered(memory, f"Prefers dinner guests to arrive at {n + 5}.", kind="preference", subject=f"guests {n}")
        remembered(memory, f"For a dinner, do step {n} first.", kind="rule", subject=f"rule {n}")
        remembered(memory, f"The dinner table seats {n + 4}.", subject=f"table {n}")
    says(memory, ("Ann", "Let us have a dinner."))
    plan = memory.plan_context("a dinner for guests")
    assert (len(plan.profile), len(plan.procedural), len(plan.semantic)) == (3, 3, 3)
    assert not any(hit.atom.is_segment for hits in (plan.profile, plan.procedural, plan.semantic) for hit in hits)
    told = plan.text(2000)
    assert [line for line in told.splitlines() if line.startswith("## ")] == ["## profile", "## rules", "## facts"]
    assert told.count("\n- [") == 9
    count = bundled_token_counter()
    assert count(plan.text(150, count=count)) <= 150


def test_a_plan_about_nothing_known_says_so(memory: Memory) -> None:
    assert "nothing known" in memory.plan_context("a dinner").text()


@pytest.mark.parametrize("budget", [20, 50, 100, 300, 1000])
def test_a_context_keeps_to_the_bundled_tokenizers_count(memory: Memory, budget: int) -> None:
    for n in range(30):
        remembered(memory, f"Tea number {n} is good. " + "Très bon, 茶! " * n, subject=str(n))
    remembered(memory, "Ann is allergic to nuts.", pinned=True)
    count = bundled_token_counter()
    assert count(memory.recall("tea", k=30).context(budget)) <= max(budget, minimum_budget(count))
    assert len(memory.recall("tea", k=30).context(budget, count=len)) <= max(budget, minimum_budget(len))


def test_a_context_holds_the_core_memories_whatever_is_asked(memory: Memory) -> None:
    remembered(memory, "Tea is served at five.")
    remembered(memory, "Ann is allergic to nuts.", pinned=True)
    told = memory.recall("when is tea?", k=1).context().splitlines()
    assert told[1] == "## core"
    assert told[2].endswith("Ann is allergic to nuts.")
    assert told[-2].endswith("Tea is served at five.")


def test_an_open_memory_without_settings_learns_too(tmp_path: Path) -> None:
    with lamina.open(tmp_path / "vault", clock=FixedClock(NOON), watch=False) as plain:
        (id_,) = [plain.remember("Tea.").atom.id]
        plain.feedback(plain.recall("tea").id, [id_])
        assert signals(plain, id_) == (1.1, 1)
