"""Contract of ageing states: what ageing recorded about each atom, and which atoms are due for it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from lamina.atom.atom import Atom, Signals
from lamina.atom.identity import AtomId
from lamina.atom.kinds import Layer
from lamina.atom.status import Status, Way
from lamina.store.base import Committed
from lamina.store.lives import HOUSEKEEPING, Life
from lamina.testing.erasures import erased
from lamina.testing.hand import ANN, DAY, ENDINGS, LOCAL, NOON, OTHER, Contract, Hand

HOUR = timedelta(hours=1)


def looked_at(hand: Hand, *atoms: Atom, **known: object) -> None:
    """Record that ageing has processed the atoms in their current revision."""
    hand.store.lives.put({atom.id: Life(atom.revision, **known) for atom in atoms})  # type: ignore[arg-type]


def due(hand: Hand, days: float = 0.0) -> list[AtomId]:
    """Return the atoms that are due for ageing this many days after noon."""
    return hand.store.lives.due(LOCAL, NOON + days * DAY)


def undone(hand: Hand, commit: Committed) -> Committed:
    """Undo a commit, as far as its first atom is concerned."""
    head = hand.head(commit.atoms[0])
    other = Status.ACTIVE if head.status is Status.TOMBSTONED else Status.TOMBSTONED
    return hand.put(head.with_(status=other), verb="undo", way=Way.UNDO, undoes=commit.id)


class LivesContract(Contract):
    """Which atoms are due, when a scope was last active, and what is removed with an atom."""

    def test_every_atom_is_due_until_it_was_looked_at_the_oldest_first(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            first = harness.kept("one")
            harness.clock.at += HOUR
            later = sorted((harness.kept(word, layer=Layer.WORKING) for word in ("two", "three")), key=lambda a: a.id)
            harness.kept("of another", scope=OTHER)
            harness.kept("of ann", scope=ANN)
            assert due(harness) == [first.id, *(each.id for each in later)]
            assert harness.store.lives.due(LOCAL, NOON, 2) == [first.id, later[0].id]
            looked_at(harness, first)
            assert due(harness) == due(harness, 9_000) == [each.id for each in later]
            looked_at(harness, *later)
            assert due(harness, 9_000) == []
        with self.hand(tmp_path) as harness:
            assert due(harness, 9_000) == []

    def test_an_atom_is_due_again_when_its_time_to_look_has_come(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            soon, late = harness.kept("soon"), harness.kept("late")
            looked_at(harness, soon, look_at=NOON + DAY)
            looked_at(harness, late, look_at=NOON + 9 * DAY)
            assert [due(harness, days) for days in (0, 0.9, 1, 8)] == [[], [], [soon.id], [soon.id]]
            assert set(due(harness, 9)) == {soon.id, late.id}
            looked_at(harness, soon)
            assert due(harness, 9) == [late.id]

    def test_what_was_written_since_is_due_and_what_was_looked_at_too_early_stays_so(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            atom = harness.kept("tea")
            looked_at(harness, atom)
            (written,) = harness.put(atom.with_(content="green tea")).atoms
            assert due(harness) == [atom.id]
            looked_at(harness, atom)
            assert due(harness) == [atom.id]
            looked_at(harness, written)
            assert due(harness) == []
            looked_at(harness, atom)
            assert due(harness) == [atom.id]

    def test_what_was_used_since_is_due(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            used, other, ended = harness.kept("used"), harness.kept("other"), harness.kept("ended")
            (over,) = harness.put(ended.with_(status=Status.SUPERSEDED)).atoms
            looked_at(harness, used, other, over)
            for atom in (used, over):
                harness.store.ledger.set_signals(atom.id, Signals(1.1, 1, NOON))
            assert due(harness) == [used.id]
            looked_at(harness, used)
            assert due(harness) == []

    def test_what_waits_or_is_over_is_not_due_and_what_comes_back_is(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            harness.kept("a guess", status=Status.CONSTRAINED)
            atoms = [harness.kept(status) for status in ENDINGS]
            looked_at(harness, *atoms, look_at=NOON)
            ended = [harness.put(atom.with_(status=Status(atom.content))).atoms[0] for atom in atoms]
            assert due(harness, 1) == []
            harness.put(ended[0].with_(status=Status.ACTIVE), way=Way.RESTORE)
            assert due(harness, 1) == [atoms[0].id]

    def test_the_archived_and_the_doubted_are_due(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            atoms = {status: harness.kept(status) for status in (Status.ARCHIVED, Status.CHALLENGED)}
            looked_at(harness, *atoms.values())
            moved = [harness.put(atom.with_(status=status)).atoms[0] for status, atom in atoms.items()]
            assert set(due(harness)) == {each.id for each in moved}
            looked_at(harness, *moved, look_at=NOON + DAY)
            assert due(harness) == []
            assert set(due(harness, 1)) == {each.id for each in moved}

    def test_what_is_known_of_an_atom_is_kept(self, tmp_path: Path) -> None:
        life = Life(1, "cold", NOON + DAY, 0.25, 0.75, 0.125, "stale")
        with self.hand(tmp_path) as harness:
            atom, other = harness.kept("tea"), harness.kept("milk")
            assert harness.store.lives.of([atom.id, other.id]) == {}
            harness.store.lives.put({atom.id: life, AtomId("0" * 26): life})
            harness.store.lives.put({})
        with self.hand(tmp_path) as harness:
            assert harness.store.lives.of([atom.id, other.id, AtomId("0" * 26)]) == {atom.id: life}
            harness.store.lives.put({atom.id: Life(1)})
            assert harness.store.lives.of([atom.id]) == {atom.id: Life(1)}
            assert harness.store.position() == 2

    def test_lives_are_taken_back_with_what_was_committed_beside_them(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            atom = harness.kept("tea")
            with harness.store.trial():
                looked_at(harness, atom)
                other = harness.kept("milk")
                assert due(harness) == [other.id]
            assert due(harness) == [atom.id]
            try:
                with harness.store.alone():
                    looked_at(harness, atom)
                    raise KeyboardInterrupt
            except KeyboardInterrupt:
                pass
            assert due(harness) == [atom.id]
            with harness.store.alone():
                looked_at(harness, atom)
            assert due(harness) == []

    def test_nothing_is_known_of_an_erased_atom(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            gone, stirred = harness.kept("tea"), harness.kept("milk")
            looked_at(harness, gone, look_at=NOON)
            erased(harness, gone, stirred)
            assert due(harness, 1) == []
            assert harness.store.lives.of([gone.id]) == {}
            assert harness.store.lives.retentions([LOCAL]) == []
            looked_at(harness, gone)
            assert harness.store.lives.of([gone.id]) == {}

    def test_somebody_was_seen_when_they_last_wrote_or_used_something(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            lives = harness.store.lives
            assert lives.seen(LOCAL) is None
            atom = harness.kept("tea")
            assert lives.seen(LOCAL) == NOON
            harness.store.ledger.set_signals(atom.id, Signals(1.0, 1, NOON - DAY))
            assert lives.seen(LOCAL) == NOON
            harness.store.ledger.set_signals(atom.id, Signals(1.0, 2, NOON + HOUR))
            assert lives.seen(LOCAL) == NOON + HOUR
            assert lives.seen(ANN) is lives.seen(OTHER) is None
            harness.clock.at += DAY
            harness.put(harness.atom("for all"), scope=ANN)
            assert lives.seen(LOCAL) == NOON + DAY

    def test_housekeeping_is_nobody_nor_is_taking_it_back(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            asked = harness.put(harness.atom("asked for"))
            for verb in sorted(HOUSEKEEPING):
                harness.clock.at += HOUR
                kept = harness.put(harness.atom(verb), verb=verb)
                undone(harness, undone(harness, kept))
                assert harness.store.lives.seen(LOCAL) == NOON
            undone(harness, asked)
            assert harness.store.lives.seen(LOCAL) == harness.clock.now()

    def test_live_atoms_are_counted_by_layer_and_tier(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            assert harness.store.lives.tiers([LOCAL]) == {}
            event, other = (harness.kept(word, layer=Layer.EPISODIC) for word in ("one", "two"))
            fact, over = harness.kept("three"), harness.kept("four")
            harness.kept("five", scope=ANN)
            looked_at(harness, event, tier="cold", retention=0.25)
            looked_at(harness, fact, retention=0.75)
            looked_at(harness, other, retention=0.5)
            looked_at(harness, over, retention=0.1)
            harness.put(over.with_(status=Status.SUPERSEDED))
            lives = harness.store.lives
            assert lives.tiers([LOCAL]) == {"episodic cold": 1, "episodic hot": 1, "semantic hot": 1}
            assert lives.tiers([LOCAL, ANN])["semantic hot"] == 2
            assert lives.tiers([]) == {}
            assert lives.retentions([LOCAL, ANN]) == [0.25, 0.5, 0.75]
            assert lives.retentions([ANN]) == []
