"""What maintenance knows of each atom, and whom it has to look at."""

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
    """Maintenance has looked at the atoms as they are."""
    hand.store.lives.put({atom.id: Life(atom.revision, **known) for atom in atoms})  # type: ignore[arg-type]


def due(hand: Hand, days: float = 0.0) -> list[AtomId]:
    """What is worth a look so many days after noon."""
    return hand.store.lives.due(LOCAL, NOON + days * DAY)


def undone(hand: Hand, commit: Committed) -> Committed:
    """The commit taken back by somebody, as far as its first atom goes."""
    head = hand.head(commit.atoms[0])
    other = Status.ACTIVE if head.status is Status.TOMBSTONED else Status.TOMBSTONED
    return hand.put(head.with_(status=other), verb="undo", way=Way.UNDO, undoes=commit.id)


class LivesContract(Contract):
    """Who is due, who was seen, and what is let go with an atom."""

    def test_every_atom_is_due_until_it_was_looked_at_the_oldest_first(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            first = hand.kept("one")
            hand.clock.at += HOUR
            later = sorted((hand.kept(word, layer=Layer.WORKING) for word in ("two", "three")), key=lambda a: a.id)
            hand.kept("of another", scope=OTHER)
            hand.kept("of ann", scope=ANN)
            assert due(hand) == [first.id, *(each.id for each in later)]
            assert hand.store.lives.due(LOCAL, NOON, 2) == [first.id, later[0].id]
            looked_at(hand, first)
            assert due(hand) == due(hand, 9_000) == [each.id for each in later]
            looked_at(hand, *later)
            assert due(hand, 9_000) == []
        with self.hand(tmp_path) as hand:
            assert due(hand, 9_000) == []

    def test_an_atom_is_due_again_when_its_time_to_look_has_come(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            soon, late = hand.kept("soon"), hand.kept("late")
            looked_at(hand, soon, look_at=NOON + DAY)
            looked_at(hand, late, look_at=NOON + 9 * DAY)
            assert [due(hand, days) for days in (0, 0.9, 1, 8)] == [[], [], [soon.id], [soon.id]]
            assert set(due(hand, 9)) == {soon.id, late.id}
            looked_at(hand, soon)
            assert due(hand, 9) == [late.id]

    def test_what_was_written_since_is_due_and_what_was_looked_at_too_early_stays_so(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atom = hand.kept("tea")
            looked_at(hand, atom)
            (written,) = hand.put(atom.with_(content="green tea")).atoms
            assert due(hand) == [atom.id]
            looked_at(hand, atom)
            assert due(hand) == [atom.id]
            looked_at(hand, written)
            assert due(hand) == []
            looked_at(hand, atom)
            assert due(hand) == [atom.id]

    def test_what_was_used_since_is_due(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            used, other, ended = hand.kept("used"), hand.kept("other"), hand.kept("ended")
            (over,) = hand.put(ended.with_(status=Status.SUPERSEDED)).atoms
            looked_at(hand, used, other, over)
            for atom in (used, over):
                hand.store.ledger.set_signals(atom.id, Signals(1.1, 1, NOON))
            assert due(hand) == [used.id]
            looked_at(hand, used)
            assert due(hand) == []

    def test_what_waits_or_is_over_is_not_due_and_what_comes_back_is(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            hand.kept("a guess", status=Status.CONSTRAINED)
            atoms = [hand.kept(status) for status in ENDINGS]
            looked_at(hand, *atoms, look_at=NOON)
            ended = [hand.put(atom.with_(status=Status(atom.content))).atoms[0] for atom in atoms]
            assert due(hand, 1) == []
            hand.put(ended[0].with_(status=Status.ACTIVE), way=Way.RESTORE)
            assert due(hand, 1) == [atoms[0].id]

    def test_the_archived_and_the_doubted_are_due(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atoms = {status: hand.kept(status) for status in (Status.ARCHIVED, Status.CHALLENGED)}
            looked_at(hand, *atoms.values())
            moved = [hand.put(atom.with_(status=status)).atoms[0] for status, atom in atoms.items()]
            assert set(due(hand)) == {each.id for each in moved}
            looked_at(hand, *moved, look_at=NOON + DAY)
            assert due(hand) == []
            assert set(due(hand, 1)) == {each.id for each in moved}

    def test_what_is_known_of_an_atom_is_kept(self, tmp_path: Path) -> None:
        life = Life(1, "cold", NOON + DAY, 0.25, 0.75, 0.125, "stale")
        with self.hand(tmp_path) as hand:
            atom, other = hand.kept("tea"), hand.kept("milk")
            assert hand.store.lives.of([atom.id, other.id]) == {}
            hand.store.lives.put({atom.id: life, AtomId("0" * 26): life})
            hand.store.lives.put({})
        with self.hand(tmp_path) as hand:
            assert hand.store.lives.of([atom.id, other.id, AtomId("0" * 26)]) == {atom.id: life}
            hand.store.lives.put({atom.id: Life(1)})
            assert hand.store.lives.of([atom.id]) == {atom.id: Life(1)}
            assert hand.store.position() == 2

    def test_lives_are_taken_back_with_what_was_committed_beside_them(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atom = hand.kept("tea")
            with hand.store.trial():
                looked_at(hand, atom)
                other = hand.kept("milk")
                assert due(hand) == [other.id]
            assert due(hand) == [atom.id]
            try:
                with hand.store.alone():
                    looked_at(hand, atom)
                    raise KeyboardInterrupt
            except KeyboardInterrupt:
                pass
            assert due(hand) == [atom.id]
            with hand.store.alone():
                looked_at(hand, atom)
            assert due(hand) == []

    def test_nothing_is_known_of_an_erased_atom(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            gone, stirred = hand.kept("tea"), hand.kept("milk")
            looked_at(hand, gone, look_at=NOON)
            erased(hand, gone, stirred)
            assert due(hand, 1) == []
            assert hand.store.lives.of([gone.id]) == {}
            assert hand.store.lives.retentions([LOCAL]) == []
            looked_at(hand, gone)
            assert hand.store.lives.of([gone.id]) == {}

    def test_somebody_was_seen_when_they_last_wrote_or_used_something(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            lives = hand.store.lives
            assert lives.seen(LOCAL) is None
            atom = hand.kept("tea")
            assert lives.seen(LOCAL) == NOON
            hand.store.ledger.set_signals(atom.id, Signals(1.0, 1, NOON - DAY))
            assert lives.seen(LOCAL) == NOON
            hand.store.ledger.set_signals(atom.id, Signals(1.0, 2, NOON + HOUR))
            assert lives.seen(LOCAL) == NOON + HOUR
            assert lives.seen(ANN) is lives.seen(OTHER) is None
            hand.clock.at += DAY
            hand.put(hand.atom("for all"), scope=ANN)
            assert lives.seen(LOCAL) == NOON + DAY

    def test_housekeeping_is_nobody_nor_is_taking_it_back(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            asked = hand.put(hand.atom("asked for"))
            for verb in sorted(HOUSEKEEPING):
                hand.clock.at += HOUR
                kept = hand.put(hand.atom(verb), verb=verb)
                undone(hand, undone(hand, kept))
                assert hand.store.lives.seen(LOCAL) == NOON
            undone(hand, asked)
            assert hand.store.lives.seen(LOCAL) == hand.clock.now()

    def test_live_atoms_are_counted_by_layer_and_tier(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            assert hand.store.lives.tiers([LOCAL]) == {}
            event, other = (hand.kept(word, layer=Layer.EPISODIC) for word in ("one", "two"))
            fact, over = hand.kept("three"), hand.kept("four")
            hand.kept("five", scope=ANN)
            looked_at(hand, event, tier="cold", retention=0.25)
            looked_at(hand, fact, retention=0.75)
            looked_at(hand, other, retention=0.5)
            looked_at(hand, over, retention=0.1)
            hand.put(over.with_(status=Status.SUPERSEDED))
            lives = hand.store.lives
            assert lives.tiers([LOCAL]) == {"episodic cold": 1, "episodic hot": 1, "semantic hot": 1}
            assert lives.tiers([LOCAL, ANN])["semantic hot"] == 2
            assert lives.tiers([]) == {}
            assert lives.retentions([LOCAL, ANN]) == [0.25, 0.5, 0.75]
            assert lives.retentions([ANN]) == []
