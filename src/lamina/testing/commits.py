"""Commits are whole, durable, attributed and made once."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from lamina.atom.status import Status
from lamina.errors import ClaimTaken, InvalidInput, InvalidScope, NotFound, StaleRevision, TransitionRefused
from lamina.testing.hand import DAY, LOCAL, NOON, OTHER, Contract, raises


class CommitContract(Contract):
    """What a commit keeps."""

    def test_a_commit_is_durable_and_readable_by_whoever_opens_the_store_next(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as one:
            atom = one.kept("tea is ready", subject="tea", tags=("hot",), metadata={"a": "b"})
        with self.hand(tmp_path) as other:
            assert other.read() == [atom]
            assert other.read()[0].revision == 1
            assert other.found("tea") == [atom.id]

    def test_a_commit_is_applied_whole_or_not_at_all(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            held = hand.kept("green", subject="tea", attribute="colour")
            ended = hand.kept("ended", status=Status.TOMBSTONED)
            hand.publish()
            position, before = hand.store.position(), hand.read()
            bad = {
                ClaimTaken: hand.atom("black", subject="tea", attribute="colour"),
                StaleRevision: held.with_(content="blue", revision=9),
                TransitionRefused: ended.with_(status=Status.ACTIVE),
                InvalidScope: hand.atom("elsewhere", scope=OTHER),
                InvalidInput: hand.atom("  \n"),
                NotFound: hand.atom("unknown").with_(revision=1),
            }
            for kind, atom in bad.items():
                for atoms in ((hand.atom("good zebra"), atom), (atom, hand.atom("good zebra"))):
                    raises(kind, lambda atoms=atoms: hand.put(*atoms, key="again"))  # type: ignore[misc]
                    assert hand.read() == before
                    assert hand.store.position() == position
                    assert hand.store.ledger.pending(10) == []
                    assert hand.found("zebra") == []
            assert hand.put(hand.atom("good zebra"), key="again").repeated is False

    def test_many_atoms_are_one_entry_of_the_journal(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atoms = [hand.atom(f"number {n}") for n in range(300)]
            done = hand.put(*atoms)
            assert [atom.id for atom in done.atoms] == [atom.id for atom in atoms]
            (entry,) = hand.store.journal([LOCAL])
            assert (entry.seq, entry.id, len(entry.changes)) == (done.seq, done.id, 300)
            assert len(hand.read()) == 300

    def test_a_change_is_made_on_the_revision_it_names(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            first = hand.kept("green")
            second = hand.put(first.with_(content="black")).atoms[0]
            assert (first.revision, second.revision) == (1, 2)
            error = raises(StaleRevision, lambda: hand.put(first.with_(content="white")))
            assert (error.atom_id, error.expected, error.actual) == (first.id, 1, 2)
            raises(StaleRevision, lambda: hand.put(first.with_(revision=0)))
            raises(StaleRevision, lambda: hand.put(first.with_(revision=3)))
            assert hand.head(first).content == "black"

    def test_a_commit_that_changes_nothing_leaves_no_trace(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atom = hand.kept()
            done = hand.put(atom)
            assert (done.id, done.seq, done.atoms) == (None, 0, (atom,))
            assert hand.put().seq == 0
            assert hand.store.position() == 1
            assert hand.head(atom).revision == 1

    def test_an_atom_stands_only_once_in_a_commit(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atom = hand.kept()
            raises(InvalidInput, lambda: hand.put(atom.with_(content="a"), atom.with_(content="b")))
            assert hand.head(atom) == atom

    def test_a_known_key_gives_the_first_result_and_does_nothing(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            done = hand.put(hand.atom("once"), key="k1")
            again = hand.put(hand.atom("twice"), key="k1")
            assert again.repeated
            assert not done.repeated
            assert (again.id, again.seq, again.at, again.atoms) == (done.id, done.seq, done.at, done.atoms)
            assert [atom.content for atom in hand.read()] == ["once"]
            assert hand.store.position() == 1
        with self.hand(tmp_path) as hand:
            assert hand.put(hand.atom("thrice"), key="k1").repeated

    def test_a_key_of_one_scope_means_nothing_in_another(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            hand.put(hand.atom("a secret", scope=OTHER), scope=OTHER, key="k1")
            done = hand.put(hand.atom("mine"), key="k1")
            assert not done.repeated
            assert [atom.content for atom in done.atoms] == ["mine"]

    def test_a_key_is_known_in_its_scope_once_its_commit_stands(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            assert not hand.store.has_key(LOCAL, "k1")
            raises(InvalidInput, lambda: hand.put(hand.atom("  "), key="k1"))
            assert not hand.store.has_key(LOCAL, "k1")
            with hand.store.trial():
                hand.put(hand.atom("tried"), key="k1")
                assert hand.store.has_key(LOCAL, "k1")
            assert not hand.store.has_key(LOCAL, "k1")
            hand.put(hand.atom("once"), key="k1")
            assert hand.store.has_key(LOCAL, "k1")
            assert not hand.store.has_key(LOCAL, "k2")
            assert not hand.store.has_key(OTHER, "k1")
        with self.hand(tmp_path) as hand:
            assert hand.store.has_key(LOCAL, "k1")

    def test_time_never_runs_backwards_in_the_journal(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            times = []
            for step in (0, 5, -3600, 2, 5.001, 5.002, -90_000_000, 6):
                hand.clock.at = NOON + timedelta(seconds=step)
                times.append(hand.put(hand.atom(f"at {step}")))
            assert [done.at for done in times] == [entry.at for entry in hand.store.journal([LOCAL])]
            assert [done.at for done in times] == sorted(done.at for done in times)
            assert all(done.atoms[0].recorded_at == done.at for done in times)
            assert times[2].at == NOON + timedelta(seconds=5)
            assert times[5].at == NOON + timedelta(seconds=5, milliseconds=2)
        with self.hand(tmp_path, NOON - 9 * DAY) as hand:
            assert hand.put(hand.atom("after the clock was set back")).at == NOON + timedelta(seconds=6)

    def test_an_atom_found_in_a_file_keeps_its_time_but_never_one_of_the_future(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            assert hand.kept("old", recorded_at=NOON - DAY).recorded_at == NOON - DAY
            assert hand.kept("odd", recorded_at=NOON + DAY).recorded_at == NOON

    def test_what_happens_in_a_trial_is_checked_and_gone_at_the_end(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            held = hand.kept("green", subject="tea", attribute="colour")
            hand.publish()
            with hand.store.trial():
                tried = hand.put(hand.atom("tried zebra")).atoms[0]
                assert hand.head(tried).content == "tried zebra"
                raises(
                    ClaimTaken,
                    lambda: hand.put(hand.atom("refused"), hand.atom("x", subject="tea", attribute="colour")),
                )
                assert {atom.content for atom in hand.read()} == {"green", "tried zebra"}
            assert hand.read() == [held]
            assert hand.store.position() == 1
            assert hand.store.ledger.pending(10) == []
            assert hand.found("zebra") == []
            assert hand.kept("after").revision == 1
            assert hand.store.check() == []
