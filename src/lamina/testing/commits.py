"""Contract of commits: atomic, durable, attributed, and applied once."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from lamina.atom.status import Status
from lamina.errors import ClaimTaken, InvalidInput, InvalidScope, NotFound, StaleRevision, TransitionRefused
from lamina.testing.hand import DAY, LOCAL, NOON, OTHER, Contract, raises


class CommitContract(Contract):
    """What a commit guarantees."""

    def test_a_commit_is_durable_and_readable_by_whoever_opens_the_store_next(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as one:
            atom = one.kept("tea is ready", subject="tea", tags=("hot",), metadata={"a": "b"})
        with self.hand(tmp_path) as other:
            assert other.read() == [atom]
            assert other.read()[0].revision == 1
            assert other.found("tea") == [atom.id]

    def test_a_commit_is_applied_whole_or_not_at_all(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            held = harness.kept("green", subject="tea", attribute="colour")
            ended = harness.kept("ended", status=Status.TOMBSTONED)
            harness.publish()
            position, before = harness.store.position(), harness.read()
            bad = {
                ClaimTaken: harness.atom("black", subject="tea", attribute="colour"),
                StaleRevision: held.with_(content="blue", revision=9),
                TransitionRefused: ended.with_(status=Status.ACTIVE),
                InvalidScope: harness.atom("elsewhere", scope=OTHER),
                InvalidInput: harness.atom("  \n"),
                NotFound: harness.atom("unknown").with_(revision=1),
            }
            for kind, atom in bad.items():
                for atoms in ((harness.atom("good zebra"), atom), (atom, harness.atom("good zebra"))):
                    raises(kind, lambda atoms=atoms: harness.put(*atoms, key="again"))  # type: ignore[misc]
                    assert harness.read() == before
                    assert harness.store.position() == position
                    assert harness.store.ledger.pending(10) == []
                    assert harness.found("zebra") == []
            assert harness.put(harness.atom("good zebra"), key="again").repeated is False

    def test_many_atoms_are_one_entry_of_the_journal(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            atoms = [harness.atom(f"number {n}") for n in range(300)]
            result = harness.put(*atoms)
            assert [atom.id for atom in result.atoms] == [atom.id for atom in atoms]
            (entry,) = harness.store.journal([LOCAL])
            assert (entry.seq, entry.id, len(entry.changes)) == (result.seq, result.id, 300)
            assert len(harness.read()) == 300

    def test_a_change_is_made_on_the_revision_it_names(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            first = harness.kept("green")
            second = harness.put(first.with_(content="black")).atoms[0]
            assert (first.revision, second.revision) == (1, 2)
            error = raises(StaleRevision, lambda: harness.put(first.with_(content="white")))
            assert (error.atom_id, error.expected, error.actual) == (first.id, 1, 2)
            raises(StaleRevision, lambda: harness.put(first.with_(revision=0)))
            raises(StaleRevision, lambda: harness.put(first.with_(revision=3)))
            assert harness.head(first).content == "black"

    def test_a_commit_that_changes_nothing_leaves_no_trace(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            atom = harness.kept()
            result = harness.put(atom)
            assert (result.id, result.seq, result.atoms) == (None, 0, (atom,))
            assert harness.put().seq == 0
            assert harness.store.position() == 1
            assert harness.head(atom).revision == 1

    def test_an_atom_stands_only_once_in_a_commit(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            atom = harness.kept()
            raises(InvalidInput, lambda: harness.put(atom.with_(content="a"), atom.with_(content="b")))
            assert harness.head(atom) == atom

    def test_a_known_key_gives_the_first_result_and_does_nothing(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            result = harness.put(harness.atom("once"), key="k1")
            again = harness.put(harness.atom("twice"), key="k1")
            assert again.repeated
            assert not result.repeated
            assert (again.id, again.seq, again.at, again.atoms) == (result.id, result.seq, result.at, result.atoms)
            assert [atom.content for atom in harness.read()] == ["once"]
            assert harness.store.position() == 1
        with self.hand(tmp_path) as harness:
            assert harness.put(harness.atom("thrice"), key="k1").repeated

    def test_a_key_of_one_scope_means_nothing_in_another(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            harness.put(harness.atom("a secret", scope=OTHER), scope=OTHER, key="k1")
            result = harness.put(harness.atom("mine"), key="k1")
            assert not result.repeated
            assert [atom.content for atom in result.atoms] == ["mine"]

    def test_a_key_is_known_in_its_scope_once_its_commit_stands(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            assert not harness.store.has_key(LOCAL, "k1")
            raises(InvalidInput, lambda: harness.put(harness.atom("  "), key="k1"))
            assert not harness.store.has_key(LOCAL, "k1")
            with harness.store.trial():
                harness.put(harness.atom("tried"), key="k1")
                assert harness.store.has_key(LOCAL, "k1")
            assert not harness.store.has_key(LOCAL, "k1")
            harness.put(harness.atom("once"), key="k1")
            assert harness.store.has_key(LOCAL, "k1")
            assert not harness.store.has_key(LOCAL, "k2")
            assert not harness.store.has_key(OTHER, "k1")
        with self.hand(tmp_path) as harness:
            assert harness.store.has_key(LOCAL, "k1")

    def test_time_never_runs_backwards_in_the_journal(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            times = []
            for step in (0, 5, -3600, 2, 5.001, 5.002, -90_000_000, 6):
                harness.clock.at = NOON + timedelta(seconds=step)
                times.append(harness.put(harness.atom(f"at {step}")))
            assert [result.at for result in times] == [entry.at for entry in harness.store.journal([LOCAL])]
            assert [result.at for result in times] == sorted(result.at for result in times)
            assert all(result.atoms[0].recorded_at == result.at for result in times)
            assert times[2].at == NOON + timedelta(seconds=5)
            assert times[5].at == NOON + timedelta(seconds=5, milliseconds=2)
        with self.hand(tmp_path, NOON - 9 * DAY) as harness:
            assert harness.put(harness.atom("after the clock was set back")).at == NOON + timedelta(seconds=6)

    def test_an_atom_found_in_a_file_keeps_its_time_but_never_one_of_the_future(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            assert harness.kept("old", recorded_at=NOON - DAY).recorded_at == NOON - DAY
            assert harness.kept("odd", recorded_at=NOON + DAY).recorded_at == NOON

    def test_what_happens_in_a_trial_is_checked_and_gone_at_the_end(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            held = harness.kept("green", subject="tea", attribute="colour")
            harness.publish()
            with harness.store.trial():
                tried = harness.put(harness.atom("tried zebra")).atoms[0]
                assert harness.head(tried).content == "tried zebra"
                raises(
                    ClaimTaken,
                    lambda: harness.put(harness.atom("refused"), harness.atom("x", subject="tea", attribute="colour")),
                )
                assert {atom.content for atom in harness.read()} == {"green", "tried zebra"}
            assert harness.read() == [held]
            assert harness.store.position() == 1
            assert harness.store.ledger.pending(10) == []
            assert harness.found("zebra") == []
            assert harness.kept("after").revision == 1
            assert harness.store.check() == []
