"""Step 7, and the links that ageing loosens."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.relation import Relation, RelationName
from lamina.clock import FixedClock
from lamina.dream.age import age
from lamina.dream.dream import dream
from lamina.dream.link_ageing import age_links, next_link_ageing
from lamina.dream.log_pruning import LOG_RETENTION, prune
from lamina.dream.step_context import StepContext
from lamina.dream.step_plan import StepPlan
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.store.sqlite.store import SqliteStore
from lamina.store.usage import ModelUsage
from lamina.testing.store_harness import DAY, LOCAL, NOON, StoreHarness


def _ids(clock: FixedClock) -> Iterator[AtomId]:
    source = IdSource(lambda many: bytes(range(many)))
    while True:
        yield source.new(clock.now())


def scene_of(hand: StoreHarness, seen: datetime | None = None) -> StepContext:
    return StepContext(store=hand.store, scope=LOCAL, moment=AgeingTime(hand.clock.now(), seen), ids=_ids(hand.clock))


@pytest.fixture
def hand(tmp_path: Path) -> Iterator[StoreHarness]:
    clock = FixedClock(NOON)
    store = SqliteStore(tmp_path, clock)
    yield StoreHarness(store, clock)
    store.close()


def dreamt(hand: StoreHarness, *, dry_run: bool = False) -> StepPlan:
    told = dream([scene_of(hand)], {"prune": prune}, hand.store, hand.clock.now(), dry_run=dry_run)
    return StepPlan(notes=told.steps[0].notes)


def test_old_recalls_are_let_go_and_young_ones_and_the_journal_stay(hand: StoreHarness) -> None:
    atom = hand.add()
    recalls, at = hand.store.recalls, hand.store.position()
    recalls.save("old", [atom.id], NOON - LOG_RETENTION - DAY, LOCAL)
    recalls.save("young", [atom.id], NOON - LOG_RETENTION + DAY, LOCAL)
    prune(scene_of(hand))
    assert recalls.hits("old", LOCAL) == [atom.id]
    dreamt(hand)
    assert recalls.hits("old", LOCAL) is None and recalls.hits("young", LOCAL) == [atom.id]
    assert hand.store.position() == at and hand.current(atom) == atom


def test_where_nobody_recalled_anything_no_file_is_made(hand: StoreHarness, tmp_path: Path) -> None:
    dreamt(hand)
    assert not (tmp_path / "recalls.db").exists() and not (tmp_path / "usage.db").exists()


def test_old_counts_of_chat_use_are_let_go_and_told(hand: StoreHarness) -> None:
    hand.store.usage.add(date(2020, 1, 1), "m", ModelUsage(calls=1))
    hand.store.usage.add(NOON.date(), "m", ModelUsage(calls=1))
    assert [note for note in dreamt(hand).notes if note.startswith("1 counts of chat use")]
    assert [day.day for day in hand.store.usage.days()] == [NOON.date()]


def test_jobs_finished_long_ago_are_let_go(hand: StoreHarness) -> None:
    hand.store.jobs.acquire("reading", "me", 60.0)
    hand.store.jobs.release("reading", "me")
    hand.clock.at += LOG_RETENTION + DAY
    dreamt(hand)
    assert [each.name for each in hand.store.jobs.list()] == ["dream"]


def linked(hand: StoreHarness, name: RelationName = RelationName.ENRICHES, **fields: object) -> Relation:
    other = hand.add("other")
    link = Relation(name, other.id, 0.8, hand.clock.now())
    hand.add("one", relations=(link,), **fields)
    return link


def test_a_link_grows_weaker_after_its_grace_once_for_each_window(hand: StoreHarness) -> None:
    link = linked(hand)
    for days, confidence in ((90, None), (91, 0.7), (180, None), (181, 0.6)):
        hand.clock.at = NOON + timedelta(days=days)
        changes = age(scene_of(hand)).changes
        assert [change.relations[0].confidence for change in changes] == ([confidence] if confidence else [])
        if changes:
            assert changes[0].relations[0].target == link.target
            done = dream([scene_of(hand)], {"age": age}, hand.store, hand.clock.now())
            assert [move.action for move in done.moves] == ["loosen"] and age(scene_of(hand)).changes == ()


@pytest.mark.parametrize("name", [RelationName.CONTRADICTS, RelationName.SUPERSEDES])
def test_a_contradiction_and_history_do_not_fade(hand: StoreHarness, name: RelationName) -> None:
    linked(hand, name)
    hand.clock.at += timedelta(days=2000)
    assert age(scene_of(hand)).changes == ()


def test_pins_and_time_in_which_nobody_was_there_loosen_nothing(hand: StoreHarness) -> None:
    linked(hand, pinned=True)
    hand.clock.at += timedelta(days=500)
    assert age(scene_of(hand)).changes == ()
    hand.clock.at = NOON
    linked(hand)
    hand.clock.at += timedelta(days=500)
    assert age(scene_of(hand, seen=NOON + 80 * DAY)).changes == ()
    assert age(scene_of(hand)).changes


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(list(RelationName)), st.floats(0.0, 1.0), st.integers(0, 900)), max_size=5),
    st.lists(st.integers(0, 1500), min_size=1, max_size=5),
)
def test_loosening_in_many_steps_comes_to_the_same_and_its_moment_is_known(
    links: list[tuple[RelationName, float, int]], days: list[int]
) -> None:
    source = IdSource(lambda many: bytes(range(many)))
    relations = tuple(
        Relation(name, source.new(NOON), confidence, NOON + timedelta(days=at)) for name, confidence, at in links
    )
    atom = Atom(id=source.new(NOON), scope=LOCAL, kind="fact", content="one", observed_at=NOON, relations=relations)
    many = atom
    for day in sorted(days):
        many = age_links(many, NOON + timedelta(days=day))
    last = NOON + timedelta(days=max(days))
    assert many == age_links(atom, last) == age_links(many, last)
    due = next_link_ageing(atom)
    assert (due is not None and due < last) is (many != atom)
