"""Step 1: what time and use do to memories, what they never do, and that looking only when due misses nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from stores import AGEING, DAY, many

from desk import Desk
from lamina import Memory, Refused
from lamina.atom.atom import Atom
from lamina.atom.atom import Signals as Counted
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.kinds import Layer
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.capture.statement_commit import new_ids
from lamina.clock import FixedClock
from lamina.dream.age import age
from lamina.dream.dream import dream
from lamina.dream.report import DreamReport
from lamina.dream.step_context import StepContext
from lamina.lifecycle.ageing import decide_ageing as aged
from lamina.lifecycle.ageing import update_signals
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.decision import StorageTier
from lamina.lifecycle.mass_change_check import SMALL_CHANGE
from lamina.lifecycle.signals import AgeingSignals, from_counters
from lamina.recall.feedback import FeedbackEffect
from lamina.review.pending_items import DecisionType
from lamina.store.sqlite import SqliteStore
from lamina.testing.store_harness import LOCAL, NOON, StoreHarness

EPISODE = {"kind": "event", "importance": 0.2, "confidence": 0.6}


def slept(desk: Desk, *, yes: bool = False) -> DreamReport:
    """A dream of ageing alone that nothing stopped."""
    report = desk.memory.dream(["age"], yes=yes)
    assert not report.failed and report.asleep is None
    return report


def there(desk: Desk, days: float) -> None:
    """So many days go by, and somebody is still about."""
    desk.tick(days=days)
    desk.remember(f"Somebody was here on {desk.clock.at:%Y-%m-%d %H:%M}.", importance=0.9)


def actions(report: DreamReport) -> list[str]:
    return [move.action for move in report.moves]


def used(desk: Desk, atom: Atom, times: int, days: float = 1.0) -> None:
    for _ in range(times):
        desk.tick(days=days)
        desk.memory.cite([atom.id])


def status(desk: Desk, atom: Atom) -> Status:
    return desk.memory.get(atom.id).status


def test_working_memory_becomes_episodic_after_half_an_hour_or_two_uses(desk: Desk) -> None:
    old, young = (desk.remember(f"Note {n} of the kettle.", layer="working", **EPISODE) for n in (1, 2))
    desk.tick(minutes=29)
    assert actions(slept(desk)) == []
    desk.memory.cite([young.id])
    desk.memory.cite([young.id])
    assert actions(slept(desk)) == ["promote"]
    assert desk.memory.get(young.id).layer is Layer.EPISODIC
    desk.tick(minutes=2)
    slept(desk)
    assert desk.memory.get(old.id).layer is Layer.EPISODIC


@pytest.mark.parametrize(("kind", "home"), [("fact", "semantic"), ("preference", "profile"), ("skill", "procedural")])
def test_what_is_used_and_matters_rises_to_where_its_kind_is_at_home(desk: Desk, kind: str, home: str) -> None:
    atom = desk.remember("Ann keeps bees.", kind=kind, layer="episodic", importance=0.6)
    used(desk, atom, 4)
    assert actions(slept(desk)) == []
    used(desk, atom, 1)
    assert actions(slept(desk)) == ["promote"]
    assert desk.memory.get(atom.id).layer == Layer(home)


def test_use_alone_lifts_nothing(desk: Desk) -> None:
    atom = desk.remember("Bob hummed.", **EPISODE, origin="agent")
    used(desk, atom, 5)
    slept(desk)
    assert desk.memory.get(atom.id).layer is Layer.EPISODIC


def test_what_is_old_unimportant_and_unused_is_laid_aside_and_still_found(desk: Desk) -> None:
    atom = desk.remember("Bob hummed a marimba tune.", **EPISODE)
    there(desk, 89.9)
    assert actions(slept(desk)) == []
    there(desk, 1.5)
    assert actions(slept(desk)) == ["archive"]
    assert status(desk, atom) is Status.ARCHIVED
    assert desk.texts("marimba")[0] == atom.content


@pytest.mark.parametrize(
    "spared",
    [
        {"importance": 0.3},
        {"pinned": True},
        {"kind": "preference"},
        {"kind": "commitment"},
        {"layer": "semantic"},
        {"layer": "procedural"},
        {"layer": "profile"},
    ],
    ids=lambda spared: "-".join(map(str, spared.values())),
)
def test_what_matters_is_not_laid_aside(desk: Desk, spared: dict[str, object]) -> None:
    atom = desk.remember("Bob hummed.", **{**EPISODE, **spared})
    there(desk, 400)
    slept(desk)
    assert status(desk, atom) is Status.ACTIVE


def test_three_uses_keep_a_memory(desk: Desk) -> None:
    kept, lost = (desk.remember(f"Bob hummed tune {n}.", **EPISODE) for n in (1, 2))
    used(desk, kept, 3)
    used(desk, lost, 2)
    there(desk, 400)
    slept(desk)
    assert (status(desk, kept), status(desk, lost)) == (Status.ACTIVE, Status.ARCHIVED)


def test_what_was_laid_aside_comes_back_when_it_is_used(desk: Desk) -> None:
    atom = desk.remember("Bob hummed.", **EPISODE)
    there(desk, 100)
    slept(desk)
    there(desk, 5)
    assert actions(slept(desk)) == []
    used(desk, atom, 1)
    assert actions(slept(desk)) == ["revive"]
    assert status(desk, atom) is Status.ACTIVE


def test_what_a_person_laid_aside_only_a_person_brings_back(desk: Desk) -> None:
    atom = desk.remember("Bob hummed.", **EPISODE)
    desk.memory.update_status(atom.id, "archived", "out of the way")
    used(desk, atom, 4)
    slept(desk)
    assert status(desk, atom) is Status.ARCHIVED


def test_a_guess_nobody_confirmed_is_over_after_thirty_days(desk: Desk) -> None:
    guess = desk.remember("Bob may like tea.", confidence=0.3)
    pinned = desk.remember("Bob may like jam.", confidence=0.3, pinned=True)
    there(desk, 29)
    assert actions(slept(desk)) == []
    there(desk, 1.5)
    assert actions(slept(desk)) == ["expire"]
    assert (status(desk, guess), status(desk, pinned)) == (Status.TOMBSTONED, Status.ACTIVE)
    assert desk.memory.get(guess.id).content == guess.content


def test_a_promise_is_over_ninety_days_after_it_was_kept_however_old_it_was(desk: Desk) -> None:
    atom = desk.remember("I owe Ann a ladder.", kind="commitment")
    there(desk, 200)
    desk.memory.resolve(atom.id)
    there(desk, 89)
    assert actions(slept(desk)) == []
    there(desk, 1.5)
    assert actions(slept(desk)) == ["expire"]


def test_words_written_anew_are_kept_at_hand_like_young_ones(desk: Desk) -> None:
    atom = desk.remember("Bob keeps a marimba.", layer="episodic", importance=0.2, confidence=0.5, origin="agent")
    desk.tick(days=60)
    desk.memory.revise(atom.id, "Bob keeps a tuned marimba.", reason="clearer")
    desk.tick(days=1)
    slept(desk)
    assert desk.memory._store.ageing_states.get([atom.id])[atom.id].tier == "hot"


def test_a_jump_of_the_clock_lays_nothing_aside_and_forgets_nothing(desk: Desk) -> None:
    desk.remember("Bob hummed.", **EPISODE)
    desk.remember("Bob may like tea.", confidence=0.3)
    slept(desk)
    desk.tick(days=4000)
    assert actions(slept(desk)) == []
    desk.tick(days=1)
    assert actions(slept(desk)) == []


@pytest.fixture
def crowd(desk: Desk) -> list[Atom]:
    """More than a dream may lay aside at once without asking."""
    atoms = [desk.remember(f"Bob hummed tune {n}.", **EPISODE) for n in range(SMALL_CHANGE + 1)]
    there(desk, 120)
    return atoms


def test_what_would_change_too_much_at_once_waits_for_a_person(desk: Desk, crowd: list[Atom]) -> None:
    for _ in range(2):
        report = slept(desk)
        assert report.moves == () and len(report.held) == 1 and len(report.held[0].moves) == len(crowd)
        (item,) = desk.memory.review.list(kind=DecisionType.DREAM)
        assert item.kind is DecisionType.DREAM and "age" in item.text
    assert {status(desk, atom) for atom in crowd} == {Status.ACTIVE}
    assert len(slept(desk, yes=True).moves) == len(crowd)
    assert {status(desk, atom) for atom in crowd} == {Status.ARCHIVED}
    assert desk.memory.review.list(kind=DecisionType.DREAM) == []


def test_few_at_once_need_nobody(desk: Desk, crowd: list[Atom]) -> None:
    desk.memory.forget(crowd[0].id, "one less")
    assert len(slept(desk).moves) == SMALL_CHANGE


def test_only_a_person_waves_through_what_is_held(desk: Desk, crowd: list[Atom]) -> None:
    agent: Memory = desk.open(ceiling="agent")
    with pytest.raises(Refused):
        agent.dream(["age"], yes=True)


def test_what_a_person_undid_is_not_done_again_until_it_is_used(desk: Desk) -> None:
    atom = desk.remember("Bob hummed.", **EPISODE)
    there(desk, 100)
    desk.memory.undo(slept(desk).batch)
    for _ in range(3):
        there(desk, 200)
        assert actions(slept(desk)) == []
    assert status(desk, atom) is Status.ACTIVE
    used(desk, atom, 1)
    there(desk, 200)
    assert actions(slept(desk)) == ["archive"]


class Daily:
    """The rules told plainly: every atom looked at every day."""

    def __init__(self, atom: Atom) -> None:
        self.atom, self.tier, self.archived_at = atom, StorageTier.HOT, AgeingSignals().archived_at

    def look(self, counted: Counted, moment: AgeingTime) -> None:
        if self.atom.status not in (Status.ACTIVE, Status.ARCHIVED):
            return
        known = from_counters(counted)
        signals = AgeingSignals(
            uses=known.uses,
            count=known.count,
            first_use=known.first_use,
            use_days=known.use_days,
            archived_at=self.archived_at,
        )
        for each in aged(self.atom, signals, moment, self.tier):
            signals = update_signals(signals, each, moment)
            self.atom, self.tier = each.apply_to(self.atom), each.tier or self.tier
        self.archived_at = signals.archived_at


@pytest.fixture
def hand(tmp_path: Path) -> Iterator[StoreHarness]:
    store = SqliteStore(tmp_path, clock := FixedClock(NOON))
    yield StoreHarness(store, clock)
    store.close()


def some_atom(hand: StoreHarness, random: Random, n: int) -> Atom:
    return hand.new_atom(
        f"tea {n}",
        kind=random.choice(AGEING),
        layer=random.choice((Layer.EPISODIC, Layer.EPISODIC, Layer.WORKING)),
        origin=random.choice((Origin.HUMAN, Origin.AGENT)),
        confidence=random.choice((0.3, 0.5, 0.8, 1.0)),
        importance=random.choice((0.1, 0.25, 0.5, 0.7)),
        pinned=random.random() < 0.1,
        resolved=random.random() < 0.3,
        expires_at=random.choice((None, None, None, NOON + random.randrange(500) * DAY)),
    )


def test_looking_only_when_due_decides_what_looking_every_day_decides(hand: StoreHarness) -> None:
    seed, store = 0, hand.store
    random = Random(seed)
    atoms = hand.commit(*(some_atom(hand, random, n) for n in range(many(60)))).atoms
    plain = {atom.id: Daily(atom) for atom in atoms}
    counted = dict.fromkeys(plain, Counted())
    ids, seen = [*plain], set[str]()
    for day in range(400):
        hand.clock.at = NOON + day * DAY + timedelta(hours=random.randrange(12))
        for atom_id in [*random.sample(ids, random.choice((0, 1, 3))), ids[day % 7]]:
            counted[atom_id] = FeedbackEffect(is_used=True).apply_to(counted[atom_id], hand.clock.at)
            store.ledger.set_signals(atom_id, counted[atom_id])
        hand.clock.at += timedelta(hours=1)
        moment = AgeingTime(hand.clock.at)
        for atom_id, daily in plain.items():
            daily.look(counted[atom_id], moment)
        scene = StepContext(store=store, scope=LOCAL, moment=moment, ids=new_ids(IdSource(os.urandom), moment.now))
        report = dream([scene], {"age": age}, store, moment.now, is_approved=True)
        seen |= {*actions(report)}
        _same(hand, plain, f"seed {seed}, day {day}")
    assert seen >= {"promote", "archive", "revive", "expire"}


def _same(hand: StoreHarness, plain: dict[AtomId, Daily], where: str) -> None:
    heads, lives = {each.id: each for each in hand.read()}, hand.store.ageing_states.get(plain)
    for atom_id, daily in plain.items():
        head = heads[atom_id]
        assert (head.status, head.layer) == (daily.atom.status, daily.atom.layer), f"{where}: {head}"
        if head.status in (Status.ACTIVE, Status.ARCHIVED):
            assert lives[atom_id].tier == daily.tier, f"{where}: {head}"
