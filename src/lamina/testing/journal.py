"""Contracts of the journal: commits are atomic, durable, attributed and applied once and listed."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from random import Random

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Origin
from lamina.atom.status import Status
from lamina.errors import (
    ClaimTaken,
    InvalidInput,
    InvalidScope,
    NotFound,
    Refused,
    StalePosition,
    StaleRevision,
    TransitionRefused,
)
from lamina.store.base import CommitResult, TransactionMode
from lamina.testing.store_harness import (
    ANN,
    BOB,
    DAY,
    LOCAL,
    NOON,
    OTHER,
    STATUS_TRANSITIONS,
    Contract,
    StoreHarness,
    raises,
)


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
            assert harness.journal.read([LOCAL], key="k1") == []
            raises(InvalidInput, harness.commit, harness.new_atom("  "), key="k1")
            assert harness.journal.read([LOCAL], key="k1") == []
            with harness.store.transaction(TransactionMode.TRIAL):
                harness.commit(harness.new_atom("tried"), key="k1")
                assert harness.journal.read([LOCAL], key="k1")
            assert harness.journal.read([LOCAL], key="k1") == []
            harness.commit(harness.new_atom("once"), key="k1")
            assert harness.journal.read([LOCAL], key="k1")
            assert harness.journal.read([LOCAL], key="k2") == []
            assert harness.journal.read([OTHER], key="k1") == []
            harness.commit(harness.new_atom("shared"), scope=ANN, key="k3")
            assert harness.journal.read([ANN], key="k3")
            assert harness.journal.read([LOCAL], key="k3") == []
        with self.open_harness(tmp_path) as harness:
            assert harness.journal.read([LOCAL], key="k1")

    def test_every_commit_is_later_than_the_one_before_whatever_the_clock_says(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            times = []
            for step in (0, 5, -3600, 2, 5.001, 5.002, -90_000_000, 6):
                harness.clock.at = NOON + timedelta(seconds=step)
                times.append(harness.commit(harness.new_atom(f"at {step}")))
            assert [result.at for result in times] == [entry.at for entry in harness.journal.read([LOCAL])]
            assert [result.at for result in times] == sorted({result.at for result in times})
            assert harness.journal.last_commit_at() == times[-1].at
            assert all(result.atoms[0].recorded_at == result.at for result in times)
            assert times[2].at == NOON + timedelta(seconds=5, milliseconds=1)
            assert times[5].at == NOON + timedelta(seconds=5, milliseconds=4)
        with self.open_harness(tmp_path, NOON - 9 * DAY) as harness:
            result = harness.commit(harness.new_atom("after the clock was set back"))
            assert result.at == NOON + timedelta(seconds=6, milliseconds=1)

    def test_an_atom_found_in_a_file_keeps_its_time_but_never_one_of_the_future(self, harness: StoreHarness) -> None:
        assert harness.add("odd", recorded_at=NOON + DAY).recorded_at == NOON
        assert harness.add("old", recorded_at=NOON - DAY).recorded_at == NOON - DAY

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


class JournalContract(Contract):
    """Tests of the journal."""

    def test_versions_list_what_each_commit_changed_of_an_atom(self, harness: StoreHarness) -> None:
        first = harness.commit(harness.new_atom("one"), actor="ann", verb="remember", reason="requested")
        atom = first.atoms[0]
        harness.clock.at = NOON + DAY
        grown = harness.commit(atom.with_(content="one and two", pinned=True)).atoms[0]
        harness.commit(harness.add("another"))
        last = harness.commit(grown.with_(status=Status.TOMBSTONED, content="three"), reason="no longer")
        versions = harness.journal.versions(atom.id)
        assert [version.atom.content for version in versions] == ["one", "one and two", "three"]
        assert [version.revision for version in versions] == [1, 2, 3]
        assert [version.old_status for version in versions] == [None, Status.ACTIVE, Status.ACTIVE]
        assert [version.atom.status for version in versions] == [Status.ACTIVE, Status.ACTIVE, Status.TOMBSTONED]
        assert [version.reason for version in versions] == ["requested", "because", "no longer"]
        assert (versions[0].actor, versions[0].verb, versions[0].at) == ("ann", "remember", NOON)
        assert (versions[0].commit, versions[2].commit, versions[2].seq) == (first.id, last.id, last.seq)
        assert versions[1].fields == {"content", "pinned"}
        assert versions[2].fields == {"content", "status"}
        assert {"id", "content", "kind", "scope", "observed_at"} <= versions[0].fields
        assert versions[-1].atom == harness.current(atom)
        assert harness.journal.versions(harness.new_atom().id) == []

    def test_the_journal_lists_the_newest_commits_after_a_position_in_order(self, harness: StoreHarness) -> None:
        commits: list[CommitResult] = []
        for n in range(5):
            harness.clock.at = NOON + n * DAY
            undoes = commits[0].id if n == 4 else None
            commits.append(harness.commit(harness.new_atom(f"n{n}"), reason=f"r{n}", batch="b", undoes=undoes))
        entries = harness.journal.read([LOCAL])
        assert [entry.seq for entry in entries] == [1, 2, 3, 4, 5]
        assert [entry.id for entry in entries] == [committed.id for committed in commits]
        assert [entry.reason for entry in entries] == ["r0", "r1", "r2", "r3", "r4"]
        assert (entries[4].undoes, entries[4].batch, entries[0].undoes) == (commits[0].id, "b", None)
        assert [entry.seq for entry in harness.journal.read([LOCAL], 2)] == [3, 4, 5]
        assert [entry.seq for entry in harness.journal.read([LOCAL], 1, until=3)] == [2, 3]
        assert [entry.seq for entry in harness.journal.read([LOCAL], limit=2)] == [4, 5]
        assert [entry.seq for entry in harness.journal.read([LOCAL], 3, limit=9)] == [4, 5]
        assert harness.journal.read([LOCAL], 5) == harness.journal.read([LOCAL], limit=0) == []
        assert harness.journal.read([LOCAL], commit=commits[2].id) == [entries[2]]
        assert harness.journal.read([LOCAL], commit="unknown") == []
        assert harness.journal.position() == 5
        assert harness.journal.position(before=NOON + 2 * DAY) == 2
        assert harness.journal.position(before=NOON) == 0

    def test_an_entry_lists_the_new_fields_and_statuses_of_each_atom(self, harness: StoreHarness) -> None:
        atom = harness.add("tea", tags=("hot",), origin=Origin.AGENT)
        harness.commit(atom.with_(status=Status.ARCHIVED, tags=("cold",)), origin=Origin.AGENT, actor="x", verb="v")
        birth, change = harness.journal.read([LOCAL])
        (born,), (changed,) = birth.changes, change.changes
        assert (born.old_status, born.new_status, born.revision) == (None, Status.ACTIVE, 1)
        assert born.fields["content"] == "tea"
        assert (changed.old_status, changed.new_status, changed.revision) == (Status.ACTIVE, Status.ARCHIVED, 2)
        assert changed.fields == {"status": "archived", "tags": ["cold"]}
        assert (change.actor, change.origin, change.verb, change.scope) == ("x", Origin.AGENT, "v", LOCAL)

    def test_a_scope_does_not_see_changes_in_another(self, harness: StoreHarness) -> None:
        harness.commit(harness.new_atom("theirs", scope=OTHER), scope=OTHER)
        mixed = harness.commit(harness.new_atom("private", scope=ANN), harness.new_atom("shared"), scope=ANN)
        (entry,) = harness.journal.read([LOCAL])
        assert entry.id == mixed.id
        assert [change.fields["content"] for change in entry.changes] == ["shared"]
        assert [len(entry.changes) for entry in harness.journal.read([ANN, LOCAL])] == [2]
        assert harness.journal.read([BOB]) == []
        theirs = harness.journal.read([OTHER])[0].id
        assert harness.journal.read([LOCAL, ANN], commit=theirs) == []

    def test_replaying_the_journal_gives_the_current_atoms(self, harness: StoreHarness) -> None:
        random = Random(3)
        for n in range(60):
            atoms = harness.read()
            if atoms and random.random() < 0.7:
                atom = random.choice(atoms)
                new = random.choice([*STATUS_TRANSITIONS[atom.status].split(), atom.status])
                with suppress(Refused):
                    harness.commit(atom.with_(content=f"{atom.content} {n}", status=Status(new)))
            else:
                harness.add(f"atom {n}", kind=random.choice(["fact", "event", "rule"]))
        statuses: dict[AtomId, Status] = {}
        for entry in harness.journal.read([LOCAL]):
            for change in entry.changes:
                assert statuses.get(change.atom_id) == change.old_status
                statuses[change.atom_id] = change.new_status
        assert statuses == {atom.id: atom.status for atom in harness.read()}
        assert all(harness.journal.versions(atom.id)[-1].atom == atom for atom in harness.read())
        assert harness.store.admin.check() == []

    def test_a_commit_is_refused_if_the_journal_moved_on_since_it_was_planned(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            one.add("one")
            planned = one.journal.position()
            commit = one.new_commit(one.new_atom("two"))
            other.add("three")
            error = raises(StalePosition, one.journal.append, commit, planned)
            assert (error.expected, error.actual) == (planned, planned + 1)
            assert one.journal.append(commit, planned + 1).seq == planned + 2
