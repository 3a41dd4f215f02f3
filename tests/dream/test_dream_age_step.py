"""Step 1: what time and use do to memories, what they never do, and that looking only when due misses nothing."""

from __future__ import annotations

import os
from datetime import timedelta
from random import Random

import pytest
from random_stores import AGEING, DAY, store_count

from lamina import Memory, Refused
from lamina.atom.atom import Atom, AtomId, IdSource
from lamina.atom.atom import Signals as Counted
from lamina.atom.kinds import Layer
from lamina.atom.provenance import Origin
from lamina.atom.status import Status
from lamina.capture.store_reads import new_ids
from lamina.dream.age_step import age
from lamina.dream.dream import dream
from lamina.dream.report import DreamReport
from lamina.dream.step import StepContext
from lamina.lifecycle.ageing import decide_ageing as aged
from lamina.lifecycle.ageing import update_signals
from lamina.lifecycle.ageing_decision import SMALL_CHANGE, StorageTier
from lamina.lifecycle.ageing_time import AgeingTime
from lamina.lifecycle.signals import AgeingSignals, from_counters
from lamina.recall.feedback import FeedbackEffect
from lamina.review.pending_items import DecisionType
from lamina.testing.store_harness import LOCAL, NOON, StoreHarness
from vault_workspace import VaultWorkspace

EPISODE = {"kind": "event", "importance": 0.2, "confidence": 0.6}


def dream_report(workspace: VaultWorkspace, *, yes: bool = False) -> DreamReport:
    """A dream of ageing alone that nothing stopped."""
    report = workspace.memory.upkeep.dream(["age"], yes=yes)
    assert not report.failed and report.asleep is None
    return report


def all_atoms(workspace: VaultWorkspace, days: float) -> None:
    """So many days go by, and somebody is still about."""
    workspace.tick(days=days)
    workspace.remember(f"Somebody was here on {workspace.clock.at:%Y-%m-%d %H:%M}.", importance=0.9)


def actions(report: DreamReport) -> list[str]:
    return [move.action for move in report.moves]


def use_atom(workspace: VaultWorkspace, atom: Atom, times: int, days: float = 1.0) -> None:
    for _ in range(times):
        workspace.tick(days=days)
        workspace.memory.cite([atom.id])


def status(workspace: VaultWorkspace, atom: Atom) -> Status:
    return workspace.memory.get(atom.id).status


def test_working_memory_becomes_episodic_after_half_an_hour_or_two_uses(workspace: VaultWorkspace) -> None:
    old, young = (workspace.remember(f"Note {n} of the kettle.", layer="working", **EPISODE) for n in (1, 2))
    workspace.tick(minutes=29)
    assert actions(dream_report(workspace)) == []
    workspace.memory.cite([young.id])
    workspace.memory.cite([young.id])
    assert actions(dream_report(workspace)) == ["promote"]
    assert workspace.memory.get(young.id).layer is Layer.EPISODIC
    workspace.tick(minutes=2)
    dream_report(workspace)
    assert workspace.memory.get(old.id).layer is Layer.EPISODIC


@pytest.mark.parametrize(("kind", "home"), [("fact", "semantic"), ("preference", "profile"), ("skill", "procedural")])
def test_used_and_important_atoms_are_promoted_to_the_layer_of_their_kind(
    workspace: VaultWorkspace, kind: str, home: str
) -> None:
    atom = workspace.remember("Ann keeps bees.", kind=kind, layer="episodic", importance=0.6)
    use_atom(workspace, atom, 4)
    assert actions(dream_report(workspace)) == []
    use_atom(workspace, atom, 1)
    assert actions(dream_report(workspace)) == ["promote"]
    assert workspace.memory.get(atom.id).layer == Layer(home)


def test_use_alone_promotes_nothing(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Bob hummed.", **EPISODE, origin="agent")
    use_atom(workspace, atom, 5)
    dream_report(workspace)
    assert workspace.memory.get(atom.id).layer is Layer.EPISODIC


def test_old_unimportant_unused_atoms_are_archived_and_still_recallable(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Bob hummed a marimba tune.", **EPISODE)
    all_atoms(workspace, 89.9)
    assert actions(dream_report(workspace)) == []
    all_atoms(workspace, 1.5)
    assert actions(dream_report(workspace)) == ["archive"]
    assert status(workspace, atom) is Status.ARCHIVED
    assert workspace.texts("marimba")[0] == atom.content


@pytest.mark.parametrize(
    "spared",
    [
        {"importance": 0.65},
        {"pinned": True},
        {"kind": "preference"},
        {"kind": "commitment"},
        {"layer": "semantic"},
        {"layer": "procedural"},
        {"layer": "profile"},
    ],
    ids=lambda spared: "-".join(map(str, spared.values())),
)
def test_important_atoms_are_not_archived(workspace: VaultWorkspace, spared: dict[str, object]) -> None:
    atom = workspace.remember("Bob hummed.", **{**EPISODE, **spared})
    all_atoms(workspace, 400)
    dream_report(workspace)
    assert status(workspace, atom) is Status.ACTIVE


def test_three_uses_prevent_archival(workspace: VaultWorkspace) -> None:
    unimportant = {**EPISODE, "importance": 0.1}
    stored, missing = (workspace.remember(f"Bob hummed tune {n}.", **unimportant) for n in (1, 2))
    use_atom(workspace, stored, 3)
    use_atom(workspace, missing, 2)
    all_atoms(workspace, 400)
    dream_report(workspace)
    assert (status(workspace, stored), status(workspace, missing)) == (Status.ACTIVE, Status.ARCHIVED)


def test_an_archived_atom_returns_when_it_is_used(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Bob hummed.", **EPISODE)
    all_atoms(workspace, 100)
    dream_report(workspace)
    all_atoms(workspace, 5)
    assert actions(dream_report(workspace)) == []
    use_atom(workspace, atom, 1)
    assert actions(dream_report(workspace)) == ["revive"]
    assert status(workspace, atom) is Status.ACTIVE


def test_an_atom_archived_by_a_person_returns_only_by_a_person(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Bob hummed.", **EPISODE)
    workspace.memory.update_status(atom.id, "archived", "out of the way")
    use_atom(workspace, atom, 4)
    dream_report(workspace)
    assert status(workspace, atom) is Status.ARCHIVED


def test_an_unconfirmed_guess_expires_after_thirty_days(workspace: VaultWorkspace) -> None:
    guess = workspace.remember("Bob may like tea.", confidence=0.3)
    pinned = workspace.remember("Bob may like jam.", confidence=0.3, pinned=True)
    all_atoms(workspace, 29)
    assert actions(dream_report(workspace)) == []
    all_atoms(workspace, 1.5)
    assert actions(dream_report(workspace)) == ["expire"]
    assert (status(workspace, guess), status(workspace, pinned)) == (Status.TOMBSTONED, Status.ACTIVE)
    assert workspace.memory.get(guess.id).content == guess.content


def test_a_commitment_expires_ninety_days_after_it_was_resolved_whatever_its_age(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("I owe Ann a ladder.", kind="commitment")
    all_atoms(workspace, 200)
    workspace.memory.resolve(atom.id)
    all_atoms(workspace, 89)
    assert actions(dream_report(workspace)) == []
    all_atoms(workspace, 1.5)
    assert actions(dream_report(workspace)) == ["expire"]


def test_a_rewritten_statement_is_in_the_hot_tier_like_a_new_one(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Bob keeps a marimba.", layer="episodic", importance=0.2, confidence=0.5, origin="agent")
    workspace.tick(days=60)
    workspace.memory.revise(atom.id, "Bob keeps a tuned marimba.", reason="clearer")
    workspace.tick(days=1)
    dream_report(workspace)
    assert workspace.memory.engine.store.signals.get([atom.id])[1][atom.id].tier == "hot"


def test_a_jump_of_the_clock_archives_and_expires_nothing(workspace: VaultWorkspace) -> None:
    workspace.remember("Bob hummed.", **EPISODE)
    workspace.remember("Bob may like tea.", confidence=0.3)
    dream_report(workspace)
    workspace.tick(days=4000)
    assert actions(dream_report(workspace)) == []
    workspace.tick(days=1)
    assert actions(dream_report(workspace)) == []


@pytest.fixture
def many_atoms(workspace: VaultWorkspace) -> list[Atom]:
    """More than a dream may lay aside at once without asking."""
    atoms = [workspace.remember(f"Bob hummed tune {n}.", **EPISODE) for n in range(SMALL_CHANGE + 1)]
    all_atoms(workspace, 120)
    return atoms


def test_a_mass_change_is_held_for_a_person(workspace: VaultWorkspace, many_atoms: list[Atom]) -> None:
    for _ in range(2):
        report = dream_report(workspace)
        assert report.moves == () and len(report.held) == 1 and len(report.held[0].moves) == len(many_atoms)
        (item,) = workspace.memory.review.list(kind=DecisionType.DREAM)
        assert item.kind is DecisionType.DREAM and "age" in item.text
    assert {status(workspace, atom) for atom in many_atoms} == {Status.ACTIVE}
    assert len(dream_report(workspace, yes=True).moves) == len(many_atoms)
    assert {status(workspace, atom) for atom in many_atoms} == {Status.ARCHIVED}
    assert workspace.memory.review.list(kind=DecisionType.DREAM) == []


def test_few_changes_need_no_confirmation(workspace: VaultWorkspace, many_atoms: list[Atom]) -> None:
    workspace.memory.forget(many_atoms[0].id, "one less")
    assert len(dream_report(workspace).moves) == SMALL_CHANGE


def test_only_a_person_confirms_a_held_change(workspace: VaultWorkspace, many_atoms: list[Atom]) -> None:
    agent: Memory = workspace.open(ceiling="agent")
    with pytest.raises(Refused):
        agent.upkeep.dream(["age"], yes=True)


def test_a_change_that_a_person_undid_is_not_repeated_until_the_atom_is_used(workspace: VaultWorkspace) -> None:
    atom = workspace.remember("Bob hummed.", **EPISODE)
    all_atoms(workspace, 100)
    workspace.memory.undo(dream_report(workspace).batch)
    for _ in range(3):
        all_atoms(workspace, 200)
        assert actions(dream_report(workspace)) == []
    assert status(workspace, atom) is Status.ACTIVE
    use_atom(workspace, atom, 1)
    all_atoms(workspace, 200)
    assert actions(dream_report(workspace)) == ["archive"]


class DailyAgeing:
    """The rules told plainly: every atom looked at every day."""

    def __init__(self, atom: Atom) -> None:
        self.atom, self.tier, self.archived_at = atom, StorageTier.HOT, AgeingSignals().archived_at

    def look(self, counted: Counted, moment: AgeingTime) -> None:
        if self.atom.status not in (Status.ACTIVE, Status.ARCHIVED):
            return
        known_value = from_counters(counted)
        signals = AgeingSignals(
            uses=known_value.uses,
            count=known_value.count,
            first_use=known_value.first_use,
            use_days=known_value.use_days,
            archived_at=self.archived_at,
        )
        for item in aged(self.atom, signals, moment, self.tier):
            signals = update_signals(signals, item, moment)
            self.atom, self.tier = item.apply_to(self.atom), item.tier or self.tier
        self.archived_at = signals.archived_at


def some_atom(harness: StoreHarness, random: Random, n: int) -> Atom:
    return harness.new_atom(
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


def test_checking_only_when_due_decides_the_same_as_checking_daily(harness: StoreHarness) -> None:
    seed, store = 0, harness.store
    random = Random(seed)
    atoms = harness.commit(*(some_atom(harness, random, n) for n in range(store_count(60)))).atoms
    plain = {atom.id: DailyAgeing(atom) for atom in atoms}
    counted = dict.fromkeys(plain, Counted())
    ids, result = [*plain], set[str]()
    for day in range(400):
        harness.clock.at = NOON + day * DAY + timedelta(hours=random.randrange(12))
        for atom_id in [*random.sample(ids, random.choice((0, 1, 3))), ids[day % 7]]:
            counted[atom_id] = FeedbackEffect(is_used=True).to_increment(harness.clock.at).apply_to(counted[atom_id])
            store.signals.put(atom_id, counted[atom_id])
        harness.clock.at += timedelta(hours=1)
        moment = AgeingTime(harness.clock.at)
        for atom_id, daily in plain.items():
            daily.look(counted[atom_id], moment)
        scene = StepContext(store=store, scope=LOCAL, moment=moment, ids=new_ids(IdSource(os.urandom), moment.now))
        report = dream([scene], {"age": age}, store, moment.now, is_approved=True)
        result |= {*actions(report)}
        _same(harness, plain, f"seed {seed}, day {day}")
    assert result >= {"promote", "archive", "revive", "expire"}


def _same(harness: StoreHarness, plain: dict[AtomId, DailyAgeing], where: str) -> None:
    heads, lives = {atom.id: atom for atom in harness.read()}, harness.store.signals.get(plain)[1]
    for atom_id, daily in plain.items():
        head = heads[atom_id]
        assert (head.status, head.layer) == (daily.atom.status, daily.atom.layer), f"{where}: {head}"
        if head.status in (Status.ACTIVE, Status.ARCHIVED):
            assert lives[atom_id].tier == daily.tier, f"{where}: {head}"
