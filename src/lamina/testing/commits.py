"""Contract of commits: atomic, durable, attributed, and applied once."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from lamina.atom.status import Status
from lamina.errors import ClaimTaken, InvalidInput, InvalidScope, NotFound, StaleRevision, TransitionRefused
from lamina.store.base import TransactionMode
from lamina.testing.store_harness import DAY, LOCAL, NOON, OTHER, Contract, StoreHarness, raises


class CommitContract(Contract):
    """Tests of the guarantees of a commit."""

    def test_a_commit_is_durable_and_readable_after_reopening_the_store(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one:
            atom = one.add("tea is ready", subject="tea", tags=("hot",), metadata={"a": "b"})
        with self.open_harness(tmp_path) as other:
            assert other.read() == [atom]
            assert other.read()[0].revision == 1
            assert other.find_ids("tea") == [atom.id]

    def test_a_commit_is_applied_whole_or_not_at_all(self, harness: StoreHarness) -> None:
        held = harness.add("green", subject="tea", attribute="colour")
        ended = harness.add("ended", status=Status.TOMBSTONED)
        harness.mark_files_written()
        position, before = harness.journal.position(), harness.read()
        bad = {
            ClaimTaken: harness.new_atom("black", subject="tea", attribute="colour"),
            StaleRevision: held.with_(content="blue", revision=9),
            TransitionRefused: ended.with_(status=Status.ACTIVE),
            InvalidScope: harness.new_atom("elsewhere", scope=OTHER),
            InvalidInput: harness.new_atom("  \n"),
            NotFound: harness.new_atom("unknown").with_(revision=1),
        }
        for kind, atom in bad.items():
            for atoms in ((harness.new_atom("good zebra"), atom), (atom, harness.new_atom("good zebra"))):
                raises(kind, harness.commit, *atoms, key="again")
                assert harness.read() == before
                assert harness.journal.position() == position
                assert harness.pending_files(10) == []
                assert harness.find_ids("zebra") == []
        assert harness.commit(harness.new_atom("good zebra"), key="again").is_repeat is False

    def test_many_atoms_are_one_entry_of_the_journal(self, harness: StoreHarness) -> None:
        atoms = [harness.new_atom(f"number {n}") for n in range(300)]
        result = harness.commit(*atoms)
        assert [atom.id for atom in result.atoms] == [atom.id for atom in atoms]
        (entry,) = harness.journal.read([LOCAL])
        assert (entry.seq, entry.id, len(entry.changes)) == (result.seq, result.id, 300)
        assert len(harness.read()) == 300

    def test_a_change_is_made_on_the_revision_it_names(self, harness: StoreHarness) -> None:
        first = harness.add("green")
        second = harness.commit(first.with_(content="black")).atoms[0]
        assert (first.revision, second.revision) == (1, 2)
        error = raises(StaleRevision, harness.commit, first.with_(content="white"))
        assert (error.atom_id, error.expected, error.actual) == (first.id, 1, 2)
        raises(StaleRevision, harness.commit, first.with_(revision=0))
        raises(StaleRevision, harness.commit, first.with_(revision=3))
        assert harness.current(first).content == "black"

    def test_a_commit_that_changes_nothing_leaves_no_trace(self, harness: StoreHarness) -> None:
        atom = harness.add()
        result = harness.commit(atom)
        assert (result.id, result.seq, result.atoms) == (None, 0, (atom,))
        assert harness.commit().seq == 0
        assert harness.journal.position() == 1
        assert harness.current(atom).revision == 1

    def test_an_atom_can_be_in_a_commit_only_once(self, harness: StoreHarness) -> None:
        atom = harness.add()
        raises(InvalidInput, harness.commit, atom.with_(content="a"), atom.with_(content="b"))
        assert harness.current(atom) == atom

    def test_a_known_key_gives_the_first_result_and_does_nothing(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            result = harness.commit(harness.new_atom("once"), key="k1")
            again = harness.commit(harness.new_atom("twice"), key="k1")
            assert again.is_repeat
            assert not result.is_repeat
            assert (again.id, again.seq, again.at, again.atoms) == (result.id, result.seq, result.at, result.atoms)
            assert [atom.content for atom in harness.read()] == ["once"]
            assert harness.journal.position() == 1
        with self.open_harness(tmp_path) as harness:
            assert harness.commit(harness.new_atom("thrice"), key="k1").is_repeat

    def test_a_key_of_one_scope_means_nothing_in_another(self, harness: StoreHarness) -> None:
        harness.commit(harness.new_atom("a secret", scope=OTHER), scope=OTHER, key="k1")
        result = harness.commit(harness.new_atom("mine"), key="k1")
        assert not result.is_repeat
        assert [atom.content for atom in result.atoms] == ["mine"]

    def test_a_key_is_known_in_its_scope_after_its_commit(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            assert not harness.journal.has_key(LOCAL, "k1")
            raises(InvalidInput, harness.commit, harness.new_atom("  "), key="k1")
            assert not harness.journal.has_key(LOCAL, "k1")
            with harness.store.transaction(TransactionMode.TRIAL):
                harness.commit(harness.new_atom("tried"), key="k1")
                assert harness.journal.has_key(LOCAL, "k1")
            assert not harness.journal.has_key(LOCAL, "k1")
            harness.commit(harness.new_atom("once"), key="k1")
            assert harness.journal.has_key(LOCAL, "k1")
            assert not harness.journal.has_key(LOCAL, "k2")
            assert not harness.journal.has_key(OTHER, "k1")
        with self.open_harness(tmp_path) as harness:
            assert harness.journal.has_key(LOCAL, "k1")

    def test_time_never_runs_backwards_in_the_journal(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            times = []
            for step in (0, 5, -3600, 2, 5.001, 5.002, -90_000_000, 6):
                harness.clock.at = NOON + timedelta(seconds=step)
                times.append(harness.commit(harness.new_atom(f"at {step}")))
            assert [result.at for result in times] == [entry.at for entry in harness.journal.read([LOCAL])]
            assert [result.at for result in times] == sorted(result.at for result in times)
            assert all(result.atoms[0].recorded_at == result.at for result in times)
            assert times[2].at == NOON + timedelta(seconds=5)
            assert times[5].at == NOON + timedelta(seconds=5, milliseconds=2)
        with self.open_harness(tmp_path, NOON - 9 * DAY) as harness:
            assert harness.commit(harness.new_atom("after the clock was set back")).at == NOON + timedelta(seconds=6)

    def test_an_atom_found_in_a_file_keeps_its_time_but_never_one_of_the_future(self, harness: StoreHarness) -> None:
        assert harness.add("old", recorded_at=NOON - DAY).recorded_at == NOON - DAY
        assert harness.add("odd", recorded_at=NOON + DAY).recorded_at == NOON

    def test_a_commit_that_was_rolled_back_hides_no_later_one_from_search(self, harness: StoreHarness) -> None:
        harness.add("a quiet harbour")
        assert len(harness.find_ids("harbour", LOCAL)) == 1
        with suppress(KeyError), harness.store.transaction(TransactionMode.WRITE):
            rolled_back = harness.add("a lighthouse that blinks")
            assert harness.find_ids("lighthouse", LOCAL) == [rolled_back.id]
            raise KeyError
        submarine = harness.add("a submarine dives")
        assert harness.find_ids("submarine", LOCAL) == [submarine.id]
        assert not harness.find_ids("lighthouse", LOCAL)

    def test_a_write_transaction_goes_on_after_one_inside_it(self, harness: StoreHarness) -> None:
        with harness.store.transaction(TransactionMode.WRITE):
            with harness.store.transaction(TransactionMode.WRITE):
                inner = harness.add("inner")
            with suppress(KeyError), harness.store.transaction(TransactionMode.WRITE):
                harness.add("refused")
                raise KeyError
            outer = harness.add("outer")
        assert {atom.id for atom in harness.read()} == {inner.id, outer.id}

    def test_a_trial_is_validated_and_rolled_back(self, harness: StoreHarness) -> None:
        held = harness.add("green", subject="tea", attribute="colour")
        harness.mark_files_written()
        with harness.store.transaction(TransactionMode.TRIAL):
            tried = harness.commit(harness.new_atom("tried zebra")).atoms[0]
            assert harness.current(tried).content == "tried zebra"
            raises(
                ClaimTaken,
                lambda: harness.commit(
                    harness.new_atom("refused"), harness.new_atom("x", subject="tea", attribute="colour")
                ),
            )
            assert {atom.content for atom in harness.read()} == {"green", "tried zebra"}
        assert harness.read() == [held]
        assert harness.journal.position() == 1
        assert harness.pending_files(10) == []
        assert harness.find_ids("zebra") == []
        assert harness.add("after").revision == 1
        assert harness.store.admin.check() == []
