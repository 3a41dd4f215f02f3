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
from lamina.dream.edges import loosened, loosens_at
from lamina.dream.plan import Plan
from lamina.dream.prune import LOGS_FOR, prune
from lamina.dream.scene import Scene
from lamina.lifecycle.moment import Moment
from lamina.store.sqlite.store import SqliteStore
from lamina.store.usage import Used
from lamina.testing.hand import DAY, LOCAL, NOON, Hand


def _ids(clock: FixedClock) -> Iterator[AtomId]:
    source = IdSource(lambda many: bytes(range(many)))
    while True:
        yield source.new(clock.now())


def scene_of(hand: Hand, seen: datetime | None = None) -> Scene:
    return Scene(store=hand.store, scope=LOCAL, moment=Moment(hand.clock.now(), seen), ids=_ids(hand.clock))


@pytest.fixture
def hand(tmp_path: Path) -> Iterator[Hand]:
    clock = FixedClock(NOON)
    store = SqliteStore(tmp_path, clock)
    yield Hand(store, clock)
    store.close()


def dreamt(hand: Hand, *, dry_run: bool = False) -> Plan:
    told = dream([scene_of(hand)], {"prune": prune}, hand.store, hand.clock.now(), dry_run=dry_run)
    return Plan(notes=told.steps[0].notes)


def test_old_recalls_are_let_go_and_young_ones_and_the_journal_stay(hand: Hand) -> None:
    atom = hand.kept()
    recalls, at = hand.store.recalls, hand.store.position()
    recalls.remember("old", [atom.id], NOON - LOGS_FOR - DAY, LOCAL)
    recalls.remember("young", [atom.id], NOON - LOGS_FOR + DAY, LOCAL)
    prune(scene_of(hand))
    assert recalls.hits("old", LOCAL) == [atom.id]
    dreamt(hand)
    assert recalls.hits("old", LOCAL) is None and recalls.hits("young", LOCAL) == [atom.id]
    assert hand.store.position() == at and hand.head(atom) == atom


def test_where_nobody_recalled_anything_no_file_is_made(hand: Hand, tmp_path: Path) -> None:
    dreamt(hand)
    assert not (tmp_path / "recalls.db").exists() and not (tmp_path / "usage.db").exists()


def test_old_counts_of_chat_use_are_let_go_and_told(hand: Hand) -> None:
    hand.store.usage.add(date(2020, 1, 1), "m", Used(calls=1))
    hand.store.usage.add(NOON.date(), "m", Used(calls=1))
    assert [note for note in dreamt(hand).notes if note.startswith("1 counts of chat use")]
    assert [day.day for day in hand.store.usage.days()] == [NOON.date()]


def test_jobs_finished_long_ago_are_let_go(hand: Hand) -> None:
    hand.store.jobs.take("reading", "me", 60.0)
    hand.store.jobs.release("reading", "me")
    hand.clock.at += LOGS_FOR + DAY
    dreamt(hand)
    assert [each.name for each in hand.store.jobs.list()] == ["dream"]


def linked(hand: Hand, name: RelationName = RelationName.ENRICHES, **fields: object) -> Relation:
    other = hand.kept("other")
    link = Relation(name, other.id, 0.8, hand.clock.now())
    hand.kept("one", relations=(link,), **fields)
    return link


def test_a_link_grows_weaker_after_its_grace_once_for_each_window(hand: Hand) -> None:
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
def test_a_contradiction_and_history_do_not_fade(hand: Hand, name: RelationName) -> None:
    linked(hand, name)
    hand.clock.at += timedelta(days=2000)
    assert age(scene_of(hand)).changes == ()


def test_pins_and_time_in_which_nobody_was_there_loosen_nothing(hand: Hand) -> None:
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
        many = loosened(many, NOON + timedelta(days=day))
    last = NOON + timedelta(days=max(days))
    assert many == loosened(atom, last) == loosened(many, last)
    due = loosens_at(atom)
    assert (due is not None and due < last) is (many != atom)
