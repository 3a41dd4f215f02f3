"""Contract of the projection: the files of a vault as the store last read or wrote them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from lamina.atom.atom import AtomId, Signals
from lamina.atom.status import Status, TransitionCause
from lamina.store.admin import FileProblem
from lamina.store.base import FileSnapshot, TransactionMode
from lamina.store.projection import (
    BytesSwappedOut,
    FileChanges,
    FileDeleted,
    FileList,
    FileMoved,
    FileRead,
    FileState,
    FileUnchanged,
    FileWritten,
    KnownFiles,
    SwapsForgotten,
    WriteWithdrawn,
)
from lamina.store.signals_and_ageing import SignalIncrement
from lamina.testing.capabilities import Capability, all_need
from lamina.testing.store_harness import NOON, STAMP, Contract, StoreHarness
from lamina.vault import layout
from lamina.vault.atom_file import parse_file
from lamina.vault.file_access import Stamp


@all_need(Capability.FILES)
class ProjectionContract(Contract):
    """Tests of what the projection stores."""

    def test_a_commit_adds_the_files_of_its_atoms_to_the_outbox(self, harness: StoreHarness) -> None:
        ledger, one, other = harness.store.projection, harness.new_atom("one"), harness.new_atom("other")
        harness.commit(one, other)
        first, second = harness.pending_files(10)
        assert harness.pending_files(1) == [first]
        assert (first.path, first.atom_id) == (layout.path_for(one), one.id)
        assert (first.base, first.moved_from) == (None, None)
        sheet = parse_file(first.data)
        assert (sheet.id, sheet.fields["content"]) == (one.id, "one")
        row = ledger.read(paths=[first.path]).at(first.path)
        assert row is not None
        assert (row.data, row.is_pending) == (first.data, True)
        assert (row.entry.stamp, row.entry.state) == (None, FileState.ATOM)
        ledger.record([FileWritten(first.path, first.data, STAMP)], 5_000)
        assert harness.pending_files(10) == [second]
        row = ledger.read(ids=[one.id]).of(one.id)
        assert row is not None
        assert (row.is_pending, row.entry.stamp, row.entry.checked_ns) == (False, STAMP, 5_000)
        assert ledger.paths_of([one.id, other.id]) == {one.id: first.path, other.id: second.path}
        files = ledger.read(ids=[one.id, AtomId("0" * 26)])
        assert (files.records, files.position) == ((row,), harness.store.journal.position())
        assert files.paths == {one.id: first.path}
        assert ledger.read() == KnownFiles((), files.position)
        assert len(ledger.read(paths=[second.path], ids=[one.id]).records) == 2
        assert ledger.summary()["to_write"] == 1
        assert ledger.find_atom(one.id) == harness.current(one)

    def test_files_follow_the_journal(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            ledger, atom = harness.store.projection, harness.add("one")
            assert ledger.pending_files(10) == []
            assert ledger.summary()["to_write"] == 1
            assert ledger.paths_of([atom.id]) == {atom.id: layout.path_for(atom)}
        with self.open_harness(tmp_path) as harness:
            ledger, atom = harness.store.projection, harness.current(atom)
            harness.commit(atom.with_(content="two"))
            with harness.store.transaction(TransactionMode.TRIAL) as trial:
                trial.projection.catch_up()
                assert trial.projection.pending_files(10) == []
            assert ledger.catch_up() == []
            (pending,) = ledger.pending_files(10)
            assert (pending.base, parse_file(pending.data).fields["content"]) == (None, "two")
            assert ledger.summary()["to_write"] == 1

    def test_a_file_moves_with_its_kind_after_commits_unless_a_person_moved_it(self, harness: StoreHarness) -> None:
        ledger, atom, other = harness.store.projection, harness.add("one"), harness.add("other")
        harness.mark_files_written()
        ledger.record([FileMoved(layout.path_for(other), "my/place.md", STAMP)], 6_000)
        for old in (atom, other):
            changed = harness.commit(old.with_(content=f"{old.content} changed")).atoms[0]
            harness.commit(changed.with_(status=Status.ARCHIVED))
        moved, stayed = harness.pending_files(10)
        assert (moved.path, moved.moved_from) == (f"archive/{layout.path_for(atom)}", layout.path_for(atom))
        assert (stayed.path, stayed.moved_from) == ("my/place.md", None)

    def test_an_accepted_file_that_says_too_much_is_written_again(self, harness: StoreHarness) -> None:
        ledger, atom = harness.store.projection, harness.add("one")
        harness.mark_files_written()
        row = ledger.read(ids=[atom.id]).of(atom.id)
        assert row is not None
        saved = FileSnapshot(row.entry.path, row.data.replace(b"one", b"refused"), STAMP, 7_000)
        result = ledger.commit_edits(harness.new_commit(atom), FileChanges({atom.id: saved}))
        assert result.seq == 0
        (pending,) = harness.pending_files(10)
        assert (pending.base, pending.data) == (saved.data, row.data)

    def test_bytes_that_were_exchanged_with_the_engines_are_written_back_even_without_later_changes(
        self, harness: StoreHarness
    ) -> None:
        ledger, atom = harness.store.projection, harness.add("one")
        harness.mark_files_written()
        row = ledger.read(ids=[atom.id]).of(atom.id)
        assert row is not None
        edited = row.data.replace(b"one", b"two")
        saved = FileSnapshot(row.entry.path, edited, STAMP, 7_000, replaced_by_sha256="of the engine's bytes")
        ledger.commit_edits(harness.new_commit(atom.with_(content="two")), FileChanges({atom.id: saved}))
        (pending,) = harness.pending_files(10)
        assert (pending.base, pending.data) == (edited, edited)
        assert "of the engine's bytes" in pending.written_hashes

    def test_a_changed_file_replaces_the_bytes_on_disk(self, harness: StoreHarness) -> None:
        ledger, atom = harness.store.projection, harness.add("one")
        born = harness.pending_files(10)[0].data
        harness.mark_files_written()
        atom = harness.commit(atom.with_(content="two")).atoms[0]
        (pending,) = harness.pending_files(10)
        assert (pending.base, parse_file(pending.data).fields["content"]) == (born, "two")
        assert hashlib.sha256(born).hexdigest() in pending.written_hashes
        harness.commit(atom.with_(content="three"))
        (again,) = harness.pending_files(10)
        assert again.base == born
        assert {hashlib.sha256(data).hexdigest() for data in (born, pending.data)} <= set(again.written_hashes)
        row = ledger.read(paths=[again.path]).at(again.path)
        assert row is not None
        assert (row.base, row.is_pending, row.data) == (born, True, again.data)

    def test_changed_counters_add_their_files_to_the_outbox_once(self, harness: StoreHarness) -> None:
        ledger, used, deleted = harness.store.projection, harness.add("used"), harness.add("deleted")
        harness.mark_files_written()
        ledger.record([FileDeleted(ledger.paths_of([deleted.id])[deleted.id])], 1)
        for atom in (used, deleted):
            harness.store.signals.add({atom.id: SignalIncrement(0.1, NOON)})
        assert harness.pending_files(10) == []
        ledger.catch_up(with_signals=True)
        (pending,) = harness.pending_files(10)
        assert (pending.atom_id, parse_file(pending.data).signals) == (used.id, Signals(1.1, 1, NOON))
        harness.mark_files_written()
        ledger.catch_up(with_signals=True)
        assert harness.pending_files(10) == []

    def test_an_archived_file_moves_unless_a_person_moved_it(self, harness: StoreHarness) -> None:
        ledger, atom, other = harness.store.projection, harness.add("one"), harness.add("other")
        harness.mark_files_written()
        home = layout.path_for(atom)
        harness.commit(atom.with_(status=Status.ARCHIVED))
        (waiting,) = harness.pending_files(10)
        assert (waiting.path, waiting.moved_from) == (f"archive/{home}", home)
        harness.mark_files_written()
        assert ledger.paths_of([atom.id]) == {atom.id: f"archive/{home}"}
        ledger.record([FileMoved(layout.path_for(other), "my/place.md", STAMP)], 6_000)
        assert ledger.paths_of([other.id]) == {other.id: "my/place.md"}
        assert ledger.find_atom("place") == harness.current(other)
        harness.commit(other.with_(status=Status.ARCHIVED))
        assert [pending.path for pending in harness.pending_files(10)] == ["my/place.md"]

    def test_what_a_person_saved_is_the_base_of_the_next_write(self, harness: StoreHarness) -> None:
        ledger, atom = harness.store.projection, harness.add("one")
        harness.mark_files_written()
        path = layout.path_for(atom)
        row = ledger.read(paths=[path]).at(path)
        assert row is not None
        edited = row.data.replace(b"one", b"two").replace(b"kind: fact", b"# mine\nkind: fact")
        snapshot = FileSnapshot(path, edited, STAMP, 7_000)
        commit = harness.new_commit(atom.with_(content="two", pinned=True), verb="edit")
        ledger.commit_edits(commit, FileChanges({atom.id: snapshot}))
        (pending,) = harness.pending_files(10)
        assert pending.base == edited
        assert b"# mine" in pending.data
        assert parse_file(pending.data).fields["pinned"] is True

    def test_a_deleted_file_keeps_its_last_bytes_and_is_written_again_when_its_atom_returns(
        self, harness: StoreHarness
    ) -> None:
        ledger, atom = harness.store.projection, harness.add("one")
        harness.mark_files_written()
        path = layout.path_for(atom)
        deletion = harness.new_commit(atom.with_(status=Status.TOMBSTONED), verb="delete")
        ledger.commit_edits(deletion, FileChanges(deleted=frozenset({atom.id})))
        row = ledger.read(paths=[path]).at(path)
        assert row is not None
        assert (row.entry.state, row.entry.atom_id) == (FileState.GONE, atom.id)
        assert b"one" in row.data
        assert ledger.paths_of([atom.id]) == {}
        assert harness.pending_files(10) == []
        harness.commit(harness.current(atom).with_(status=Status.ACTIVE), way=TransitionCause.RESTORE)
        assert [(pending.path, pending.base) for pending in harness.pending_files(10)] == [(path, None)]

    def test_files_that_are_not_atoms_are_recorded_and_forgotten(self, harness: StoreHarness) -> None:
        ledger, atom = harness.store.projection, harness.add("one")
        harness.mark_files_written()
        path = layout.path_for(atom)
        foreign = FileRead("notes/x.md", b"", STAMP, None, FileState.FOREIGN)
        ledger.record([foreign, FileRead("atoms/bad.md", b"??", STAMP, None, FileState.BAD)], 1)
        assert {line.path: line.state for line in ledger.list_files().entries} == {
            path: FileState.ATOM,
            "notes/x.md": FileState.FOREIGN,
            "atoms/bad.md": FileState.BAD,
        }
        harness.store.admin.problems.report(FileProblem("atoms/bad.md", "unreadable", "line 3 is odd", 3))
        summary = ledger.summary()
        assert summary["problems"] == 1
        assert (summary["files"], summary["foreign"], summary["unreadable"]) == (1, 1, 1)
        ledger.record(map(FileDeleted, ("notes/x.md", "atoms/bad.md", "nowhere.md")), 1)
        ledger.record([FileUnchanged(path, Stamp(1, 2, 3, 4))], 9_000)
        (line,) = ledger.list_files().entries
        assert line.path == path
        assert (line.stamp, line.checked_ns) == (Stamp(1, 2, 3, 4), 9_000)
        assert ledger.list_files(8_997) == FileList({path: Stamp(1, 2, 3, 4)}, [])
        assert ledger.list_files(8_998) == FileList({}, [line])
        ledger.record([FileDeleted(path)], 1)
        assert ledger.list_files(0) == FileList({}, [line._replace(state=FileState.GONE)])
        assert ledger.paths_of([atom.id]) == {}
        assert ledger.read(paths=["nowhere.md"]).records == ()

    def test_a_path_that_another_file_took_is_freed_until_the_file_is_found_again(self, harness: StoreHarness) -> None:
        ledger, atom = harness.store.projection, harness.add("one")
        harness.mark_files_written()
        path = layout.path_for(atom)
        ledger.record([FileMoved(path, "elsewhere.md", None)], 1)
        assert ledger.read(paths=[path]).records == ()
        (displaced,) = ledger.read(ids=[atom.id]).records
        assert (displaced.entry.path, displaced.entry.stamp) == ("elsewhere.md", STAMP)

    def test_a_withdrawn_write_is_no_longer_pending_and_its_file_is_read_again(self, harness: StoreHarness) -> None:
        ledger, atom = harness.store.projection, harness.add("one")
        (pending,) = harness.pending_files(10)
        ledger.record([WriteWithdrawn(pending)], 1)
        assert harness.pending_files(10) == []
        row = ledger.read(ids=[atom.id]).of(atom.id)
        assert row is not None
        assert row.entry.state is FileState.BAD

    def test_bytes_replaced_by_a_file_swap_are_remembered_until_they_expire(self, harness: StoreHarness) -> None:
        ledger, name = harness.store.projection, hashlib.sha256(b"old").hexdigest()
        assert ledger.find_swapped_out(name) is None
        ledger.record([BytesSwappedOut(b"old")], 10**18)
        assert ledger.find_swapped_out(name) == b"old"
        ledger.record([SwapsForgotten(10**18)], 1)
        assert ledger.find_swapped_out(name) == b"old"
        ledger.record([SwapsForgotten(10**18 + 1)], 1)
        assert ledger.find_swapped_out(name) is None

    def test_an_atom_is_found_by_its_file_name_or_its_foreign_id(self, harness: StoreHarness) -> None:
        ledger, atom = harness.store.projection, harness.add("one", source_ref="mem-17")
        ledger.catch_up()
        assert ledger.find_atom(layout.file_stem(layout.path_for(atom))) == atom
        assert ledger.find_atom("mem-17") == atom
        assert ledger.find_atom("mem-18") is None
        harness.add("two", source_ref="mem-17")
        ledger.catch_up()
        assert ledger.find_atom("mem-17") is None
