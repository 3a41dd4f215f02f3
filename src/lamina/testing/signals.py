"""Contracts of signals: counters that many processes increment, and what ageing recorded about each atom."""

from __future__ import annotations

import threading
from contextlib import suppress
from datetime import timedelta
from functools import partial
from pathlib import Path

from lamina.atom.atom import Atom, AtomId, Signals
from lamina.atom.kinds import Layer
from lamina.atom.status import Status, TransitionCause
from lamina.store.base import CommitResult, TransactionMode
from lamina.store.signals_and_ageing import BACKGROUND_VERBS, AgeingState, SignalCounters, SignalIncrement
from lamina.testing.erasures import erase_atoms
from lamina.testing.store_harness import (
    ANN,
    DAY,
    ENDED_STATUSES,
    LOCAL,
    NOON,
    OTHER,
    Contract,
    StoreHarness,
    run_in_threads,
)


class SignalContract(Contract):
    """Tests of counting signals."""

    def test_signals_are_counted_outside_the_journal(self, harness: StoreHarness) -> None:
        signals, atom = harness.store.signals, harness.add()
        assert signals.get([atom.id]).signals == {}
        whole = Signals(1.5, 3, NOON, (NOON - DAY, NOON), NOON - 9 * DAY, 3, 2.0, 1.0)
        signals.put(atom.id, whole)
        assert signals.get([atom.id]).signals == {atom.id: whole}
        assert harness.journal.position() == 1
        assert harness.current(atom).revision == 1

    def test_counted_uses_without_times_keep_the_time_of_the_last(self, harness: StoreHarness) -> None:
        signals, atom = harness.store.signals, harness.add()
        signals.put(atom.id, Signals(1.5, 3, NOON))
        assert signals.get([atom.id]).signals == {atom.id: Signals(1.5, 3, NOON, uses=(NOON,))}
        signals.put(atom.id, Signals(0.9))
        assert signals.get([atom.id]).signals == {atom.id: Signals(0.9)}

    def test_increments_are_added_to_what_is_stored(self, harness: StoreHarness) -> None:
        signals, used, ignored = harness.store.signals, harness.add("one"), harness.add("two")
        signals.add({used.id: SignalIncrement(0.1, NOON), ignored.id: SignalIncrement(-0.05)})
        signals.add({used.id: SignalIncrement(-0.2, NOON + DAY)})
        signals.add({})
        expected = {
            used.id: Signals(0.9, 2, NOON + DAY, (NOON, NOON + DAY), NOON, 2, 1.0, 1.0),
            ignored.id: Signals(0.95),
        }
        assert signals.get([used.id, ignored.id]).signals == expected
        assert signals.get([used.id, ignored.id]) == (expected, {})

    def test_increments_of_two_connections_are_all_counted(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            atom, start = one.add(), threading.Barrier(2)

            def use_often(signals: SignalCounters) -> None:
                start.wait()
                for _ in range(20):
                    signals.add({atom.id: SignalIncrement(used_at=NOON)})

            run_in_threads(partial(use_often, one.store.signals), partial(use_often, other.store.signals))
            assert one.store.signals.get([atom.id]).signals[atom.id].recall_count == 40

    def test_an_edit_sets_the_counters_it_names_and_keeps_the_others(self, harness: StoreHarness) -> None:
        signals, atom = harness.store.signals, harness.add()
        signals.put(atom.id, Signals(1.5, 3, NOON + DAY, (NOON, NOON + DAY), NOON, 2, 2.0, 1.0))
        signals.edit(atom.id, {"quality_score": 0.5})
        edited = Signals(0.5, 3, NOON + DAY, (NOON, NOON + DAY), NOON, 2, 2.0, 1.0)
        assert signals.get([atom.id]).signals == {atom.id: edited}
        signals.edit(atom.id, {"recall_count": 0})
        assert signals.get([atom.id]).signals == {atom.id: Signals(0.5, successes=2.0, failures=1.0)}

    def test_a_trial_leaves_no_increment_behind(self, harness: StoreHarness) -> None:
        atom = harness.add()
        with harness.store.transaction(TransactionMode.TRIAL) as trial:
            trial.signals.add({atom.id: SignalIncrement(used_at=NOON)})
            assert trial.signals.get([atom.id]).signals[atom.id].recall_count == 1
        assert harness.store.signals.get([atom.id]).signals == {}


HOUR = timedelta(hours=1)


def mark_as_aged(harness: StoreHarness, *atoms: Atom, **fields: object) -> None:
    """Record that ageing has processed the atoms in their current revision."""
    harness.store.signals.put_ageing({atom.id: AgeingState(atom.revision, **fields) for atom in atoms})  # type: ignore[arg-type]


def due_atoms(harness: StoreHarness, days: float = 0.0) -> list[AtomId]:
    """Return the atoms that are due for ageing this many days after noon."""
    return harness.store.signals.find_due(LOCAL, NOON + days * DAY)


def undo_commit(harness: StoreHarness, commit: CommitResult) -> CommitResult:
    """Undo a commit, as far as its first atom is concerned."""
    head = harness.current(commit.atoms[0])
    other = Status.ACTIVE if head.status is Status.TOMBSTONED else Status.TOMBSTONED
    return harness.commit(head.with_(status=other), verb="undo", way=TransitionCause.UNDO, undoes=commit.id)


class AgeingStateContract(Contract):
    """Tests of the ageing state: atoms that are due, the last activity of a scope, and removal with an atom."""

    def test_every_atom_is_due_until_it_was_aged_oldest_first(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            first = harness.add("one")
            harness.clock.at += HOUR
            later = sorted((harness.add(word, layer=Layer.WORKING) for word in ("two", "three")), key=lambda a: a.id)
            harness.add("of another", scope=OTHER)
            harness.add("of ann", scope=ANN)
            assert due_atoms(harness) == [first.id, *(atom.id for atom in later)]
            assert harness.store.signals.find_due(LOCAL, NOON, 2) == [first.id, later[0].id]
            mark_as_aged(harness, first)
            assert due_atoms(harness) == due_atoms(harness, 9_000) == [atom.id for atom in later]
            mark_as_aged(harness, *later)
            assert due_atoms(harness, 9_000) == []
        with self.open_harness(tmp_path) as harness:
            assert due_atoms(harness, 9_000) == []

    def test_an_atom_is_due_again_at_its_next_check(self, harness: StoreHarness) -> None:
        soon, late = harness.add("soon"), harness.add("late")
        mark_as_aged(harness, soon, next_check_at=NOON + DAY)
        mark_as_aged(harness, late, next_check_at=NOON + 9 * DAY)
        assert [due_atoms(harness, days) for days in (0, 0.9, 1, 8)] == [[], [], [soon.id], [soon.id]]
        assert set(due_atoms(harness, 9)) == {soon.id, late.id}
        mark_as_aged(harness, soon)
        assert due_atoms(harness, 9) == [late.id]

    def test_a_revised_atom_is_due_until_its_current_revision_was_aged(self, harness: StoreHarness) -> None:
        atom = harness.add("tea")
        mark_as_aged(harness, atom)
        (written,) = harness.commit(atom.with_(content="green tea")).atoms
        assert due_atoms(harness) == [atom.id]
        mark_as_aged(harness, atom)
        assert due_atoms(harness) == [atom.id]
        mark_as_aged(harness, written)
        assert due_atoms(harness) == []
        mark_as_aged(harness, atom)
        assert due_atoms(harness) == [atom.id]

    def test_an_atom_used_since_it_was_aged_is_due(self, harness: StoreHarness) -> None:
        used, other, ended = harness.add("used"), harness.add("other"), harness.add("ended")
        (over,) = harness.commit(ended.with_(status=Status.SUPERSEDED)).atoms
        mark_as_aged(harness, used, other, over)
        for atom in (used, over):
            harness.store.signals.put(atom.id, Signals(1.1, 1, NOON))
        assert due_atoms(harness) == [used.id]
        mark_as_aged(harness, used)
        assert due_atoms(harness) == []

    def test_pending_and_ended_atoms_are_not_due_and_restored_ones_are(self, harness: StoreHarness) -> None:
        harness.add("a guess", status=Status.CONSTRAINED)
        atoms = [harness.add(status) for status in ENDED_STATUSES]
        mark_as_aged(harness, *atoms, next_check_at=NOON)
        ended = [harness.commit(atom.with_(status=Status(atom.content))).atoms[0] for atom in atoms]
        assert due_atoms(harness, 1) == []
        harness.commit(ended[0].with_(status=Status.ACTIVE), way=TransitionCause.RESTORE)
        assert due_atoms(harness, 1) == [atoms[0].id]

    def test_archived_and_challenged_atoms_are_due(self, harness: StoreHarness) -> None:
        atoms = {status: harness.add(status) for status in (Status.ARCHIVED, Status.CHALLENGED)}
        mark_as_aged(harness, *atoms.values())
        moved = [harness.commit(atom.with_(status=status)).atoms[0] for status, atom in atoms.items()]
        assert set(due_atoms(harness)) == {atom.id for atom in moved}
        mark_as_aged(harness, *moved, next_check_at=NOON + DAY)
        assert due_atoms(harness) == []
        assert set(due_atoms(harness, 1)) == {atom.id for atom in moved}

    def test_the_ageing_state_of_an_atom_is_stored(self, tmp_path: Path) -> None:
        life = AgeingState(1, "cold", NOON + DAY, 0.25, 0.75, 0.125, "stale")
        with self.open_harness(tmp_path) as harness:
            atom, other = harness.add("tea"), harness.add("milk")
            assert harness.store.signals.get([atom.id, other.id])[1] == {}
            harness.store.signals.put_ageing({atom.id: life, AtomId("0" * 26): life})
            harness.store.signals.put_ageing({})
        with self.open_harness(tmp_path) as harness:
            assert harness.store.signals.get([atom.id, other.id, AtomId("0" * 26)])[1] == {atom.id: life}
            harness.store.signals.put_ageing({atom.id: AgeingState(1)})
            assert harness.store.signals.get([atom.id])[1] == {atom.id: AgeingState(1)}
            assert harness.journal.position() == 2

    def test_ageing_states_roll_back_with_their_transaction(self, harness: StoreHarness) -> None:
        atom = harness.add("tea")
        with harness.store.transaction(TransactionMode.TRIAL):
            mark_as_aged(harness, atom)
            other = harness.add("milk")
            assert due_atoms(harness) == [other.id]
        assert due_atoms(harness) == [atom.id]
        with suppress(KeyboardInterrupt), harness.store.transaction(TransactionMode.WRITE):
            mark_as_aged(harness, atom)
            raise KeyboardInterrupt
        assert due_atoms(harness) == [atom.id]
        with harness.store.transaction(TransactionMode.WRITE):
            mark_as_aged(harness, atom)
        assert due_atoms(harness) == []

    def test_an_erased_atom_has_no_ageing_state(self, harness: StoreHarness) -> None:
        gone, stirred = harness.add("tea"), harness.add("milk")
        mark_as_aged(harness, gone, next_check_at=NOON)
        erase_atoms(harness, gone, stirred)
        assert due_atoms(harness, 1) == []
        assert harness.store.signals.get([gone.id])[1] == {}
        mark_as_aged(harness, gone)
        assert harness.store.signals.get([gone.id])[1] == {}

    def test_last_activity_is_the_latest_write_or_use(self, harness: StoreHarness) -> None:
        assert harness.store.signals.last_activity(LOCAL) is None
        atom = harness.add("tea")
        assert harness.store.signals.last_activity(LOCAL) == NOON
        harness.store.signals.put(atom.id, Signals(1.0, 1, NOON - DAY))
        assert harness.store.signals.last_activity(LOCAL) == NOON
        harness.store.signals.put(atom.id, Signals(1.0, 2, NOON + HOUR))
        assert harness.store.signals.last_activity(LOCAL) == NOON + HOUR
        assert harness.store.signals.last_activity(ANN) is harness.store.signals.last_activity(OTHER) is None
        harness.clock.at += DAY
        harness.commit(harness.new_atom("for all"), scope=ANN)
        assert harness.store.signals.last_activity(LOCAL) == NOON + DAY

    def test_background_commits_and_their_undo_are_not_activity(self, harness: StoreHarness) -> None:
        requested = harness.commit(harness.new_atom("on request"))
        for verb in sorted(BACKGROUND_VERBS):
            harness.clock.at += HOUR
            kept = harness.commit(harness.new_atom(verb), verb=verb)
            undo_commit(harness, undo_commit(harness, kept))
            assert harness.store.signals.last_activity(LOCAL) == NOON
        harness.clock.at += HOUR
        undo_commit(harness, requested)
        assert harness.store.signals.last_activity(LOCAL) == harness.clock.now()

    def test_live_atoms_are_counted_by_layer_and_tier(self, harness: StoreHarness) -> None:
        assert harness.store.signals.count_tiers([LOCAL]) == {}
        event, other = (harness.add(word, layer=Layer.EPISODIC) for word in ("one", "two"))
        fact, over = harness.add("three"), harness.add("four")
        harness.add("five", scope=ANN)
        mark_as_aged(harness, event, tier="cold")
        mark_as_aged(harness, fact, other, over)
        harness.commit(over.with_(status=Status.SUPERSEDED))
        assert harness.store.signals.count_tiers([LOCAL]) == {"episodic cold": 1, "episodic hot": 1, "semantic hot": 1}
        assert harness.store.signals.count_tiers([LOCAL, ANN])["semantic hot"] == 2
        assert harness.store.signals.count_tiers([]) == {}
