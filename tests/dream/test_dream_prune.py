"""Step prune, and the links that ageing weakens."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.atom.atom import Atom, AtomId, IdSource, Relation, RelationName
from lamina.clock import FixedClock
from lamina.dream.age_step import age, age_links, next_link_ageing
from lamina.dream.dream import dream
from lamina.dream.step import StepContext, StepPlan
from lamina.dream.steps import LOG_RETENTION, prune
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.store.admin import ModelUsage, SavedRecall
from lamina.testing.admin import hits_of
from lamina.testing.store_harness import DAY, LOCAL, NOON, StoreHarness


def _ids(clock: FixedClock) -> Iterator[AtomId]:
    source = IdSource(lambda many: bytes(range(many)))
    while True:
        yield source.new(clock.now())


def scene_of(harness: StoreHarness, seen: datetime | None = None) -> StepContext:
    return StepContext(
        store=harness.store, scope=LOCAL, moment=AgeingTime(harness.clock.now(), seen), ids=_ids(harness.clock)
    )


def run_step(harness: StoreHarness, *, dry_run: bool = False) -> StepPlan:
    report = dream([scene_of(harness)], {"prune": prune}, harness.store, harness.clock.now(), dry_run=dry_run)
    return StepPlan(notes=report.steps[0].notes)


def test_old_recalls_are_deleted_and_recent_ones_and_the_journal_stay(harness: StoreHarness) -> None:
    atom = harness.add()
    recalls, at = harness.store.admin.recalls, harness.store.journal.position()
    recalls.save(SavedRecall("old", (atom.id,)), NOON - LOG_RETENTION - DAY, LOCAL)
    recalls.save(SavedRecall("young", (atom.id,)), NOON - LOG_RETENTION + DAY, LOCAL)
    prune(scene_of(harness))
    assert hits_of(recalls, "old", LOCAL) == [atom.id]
    run_step(harness)
    assert hits_of(recalls, "old", LOCAL) is None and hits_of(recalls, "young", LOCAL) == [atom.id]
    assert harness.store.journal.position() == at and harness.current(atom) == atom


def test_without_recalls_no_file_is_made(harness: StoreHarness, tmp_path: Path) -> None:
    run_step(harness)
    assert not (tmp_path / "recalls.db").exists() and not (tmp_path / "usage.db").exists()


def test_old_chat_usage_is_deleted_and_reported(harness: StoreHarness) -> None:
    harness.store.admin.usage.add(date(2020, 1, 1), "m", ModelUsage(calls=1))
    harness.store.admin.usage.add(NOON.date(), "m", ModelUsage(calls=1))
    assert [note for note in run_step(harness).notes if note.startswith("1 counts of chat use")]
    assert [day.day for day in harness.store.admin.usage.days()] == [NOON.date()]


def test_jobs_finished_long_ago_are_deleted(harness: StoreHarness) -> None:
    harness.store.queue.lease("reading", "me", 60.0)
    harness.store.queue.release("reading", "me", "")
    harness.clock.at += LOG_RETENTION + DAY
    run_step(harness)
    assert [atom.name for atom in harness.store.queue.list_jobs()] == ["dream"]


def add_linked_pair(harness: StoreHarness, name: RelationName = RelationName.ENRICHES, **fields: object) -> Relation:
    other = harness.add("other")
    link = Relation(name, other.id, 0.8, harness.clock.now())
    harness.add("one", relations=(link,), **fields)
    return link


def test_a_link_weakens_once_per_window_after_its_grace_period(harness: StoreHarness) -> None:
    link = add_linked_pair(harness)
    for days, confidence in ((90, None), (91, 0.7), (180, None), (181, 0.6)):
        harness.clock.at = NOON + timedelta(days=days)
        changes = age(scene_of(harness)).changes
        assert [change.relations[0].confidence for change in changes] == ([confidence] if confidence else [])
        if changes:
            assert changes[0].relations[0].target == link.target
            report = dream([scene_of(harness)], {"age": age}, harness.store, harness.clock.now())
            assert [move.action for move in report.moves] == ["weaken"] and age(scene_of(harness)).changes == ()


@pytest.mark.parametrize("name", [RelationName.CONTRADICTS, RelationName.SUPERSEDES])
def test_contradictions_and_history_links_do_not_weaken(harness: StoreHarness, name: RelationName) -> None:
    add_linked_pair(harness, name)
    harness.clock.at += timedelta(days=2000)
    assert age(scene_of(harness)).changes == ()


def test_pins_and_idle_time_weaken_nothing(harness: StoreHarness) -> None:
    add_linked_pair(harness, pinned=True)
    harness.clock.at += timedelta(days=500)
    assert age(scene_of(harness)).changes == ()
    harness.clock.at = NOON
    add_linked_pair(harness)
    harness.clock.at += timedelta(days=500)
    assert age(scene_of(harness, seen=NOON + 80 * DAY)).changes == ()
    assert age(scene_of(harness)).changes


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(list(RelationName)), st.floats(0.0, 1.0), st.integers(0, 900)), max_size=5),
    st.lists(st.integers(0, 1500), min_size=1, max_size=5),
)
def test_weakening_in_many_steps_gives_the_same_result_and_its_time_is_stored(
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
