"""Contract of the ledger: the files of a vault as the store last read or wrote them."""

from __future__ import annotations

import hashlib
from pathlib import Path

from lamina.atom.atom import Signals
from lamina.atom.status import Status, Way
from lamina.atom.trust import Origin
from lamina.store.base import Change, Commit, Seen
from lamina.store.ledger import FileState, Problem
from lamina.testing.hand import DAY, LOCAL, NOON, STAMP, Contract
from lamina.vault import layout
from lamina.vault.codec import read_sheet
from lamina.vault.files import Stamp


class LedgerContract(Contract):
    """What the ledger stores."""

    def test_a_commit_puts_the_files_of_its_atoms_into_the_outbox(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            ledger, one, other = harness.store.ledger, harness.atom("one"), harness.atom("other")
            harness.put(one, other)
            first, second = ledger.pending(10)
            assert ledger.pending(1) == [first]
            assert (first.path, first.atom_id, first.base, first.moved_from) == (
                layout.path_for(one),
                one.id,
                None,
                None,
            )
            sheet = read_sheet(first.data)
            assert (sheet.id, sheet.fields["content"]) == (one.id, "one")
            row = ledger.row(first.path)
            assert row is not None
            assert (row.data, row.pending, row.line.stamp, row.line.state) == (first.data, True, None, FileState.ATOM)
            ledger.wrote([(first.path, STAMP, first.data)], 5_000)
            assert ledger.pending(10) == [second]
            row = ledger.row_of(one.id)
            assert row is not None
            assert (row.pending, row.line.stamp, row.line.checked_ns) == (False, STAMP, 5_000)
            assert ledger.line(first.path) == row.line
            assert ledger.paths_of([one.id, other.id]) == {one.id: first.path, other.id: second.path}
            assert ledger.summary()["to_write"] == 1
            assert ledger.head(one.id) == harness.head(one)

    def test_a_changed_file_is_written_over_the_bytes_that_stand_there(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            ledger, atom = harness.store.ledger, harness.kept("one")
            born = ledger.pending(10)[0].data
            harness.publish()
            atom = harness.put(atom.with_(content="two")).atoms[0]
            (pending,) = ledger.pending(10)
            assert (pending.base, read_sheet(pending.data).fields["content"]) == (born, "two")
            assert hashlib.sha256(born).hexdigest() in pending.ours
            harness.put(atom.with_(content="three"))
            (again,) = ledger.pending(10)
            assert again.base == born
            assert {hashlib.sha256(data).hexdigest() for data in (born, pending.data)} <= set(again.ours)
            row = ledger.row(again.path)
            assert row is not None
            assert (row.base, row.pending, row.data) == (born, True, again.data)

    def test_an_archived_file_moves_and_one_a_person_moved_stays(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            ledger, atom, other = harness.store.ledger, harness.kept("one"), harness.kept("other")
            harness.publish()
            home = layout.path_for(atom)
            harness.put(atom.with_(status=Status.ARCHIVED))
            (waiting,) = ledger.pending(10)
            assert (waiting.path, waiting.moved_from) == (f"archive/{home}", home)
            harness.publish()
            assert ledger.paths_of([atom.id]) == {atom.id: f"archive/{home}"}
            ledger.moved(layout.path_for(other), "my/place.md", STAMP, 6_000)
            assert ledger.paths_of([other.id]) == {other.id: "my/place.md"}
            assert ledger.atom_named("place") == other.id
            harness.put(other.with_(status=Status.ARCHIVED))
            assert [pending.path for pending in ledger.pending(10)] == ["my/place.md"]

    def test_what_a_person_saved_is_the_base_of_the_next_write(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            ledger, atom = harness.store.ledger, harness.kept("one")
            harness.publish()
            path = layout.path_for(atom)
            row = ledger.row(path)
            assert row is not None
            edited = row.data.replace(b"one", b"two").replace(b"kind: fact", b"# mine\nkind: fact")
            snapshot = Seen(path, edited, STAMP, 7_000)
            commit = Commit(
                actor="human",
                origin=Origin.HUMAN,
                verb="edit",
                reason="edited",
                scope=LOCAL,
                changes=(Change(atom.with_(content="two", pinned=True), snapshot),),
            )
            harness.store.commit(commit)
            (pending,) = ledger.pending(10)
            assert pending.base == edited
            assert b"# mine" in pending.data
            assert read_sheet(pending.data).fields["pinned"] is True

    def test_a_deleted_file_keeps_its_last_bytes_and_is_written_again_when_its_atom_returns(
        self, tmp_path: Path
    ) -> None:
        with self.hand(tmp_path) as harness:
            ledger, atom = harness.store.ledger, harness.kept("one")
            harness.publish()
            path = layout.path_for(atom)
            gone = Change(atom.with_(status=Status.TOMBSTONED), file_gone=True)
            harness.store.commit(
                Commit(
                    actor="human", origin=Origin.HUMAN, verb="delete", reason="deleted", scope=LOCAL, changes=(gone,)
                )
            )
            row = ledger.row(path)
            assert row is not None
            assert (row.line.state, row.line.atom_id) == (FileState.GONE, atom.id)
            assert b"one" in row.data
            assert ledger.paths_of([atom.id]) == {}
            assert ledger.pending(10) == []
            harness.put(harness.head(atom).with_(status=Status.ACTIVE), way=Way.RESTORE)
            assert [(pending.path, pending.base) for pending in ledger.pending(10)] == [(path, None)]

    def test_files_that_are_no_atoms_are_known_and_forgotten(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            ledger, atom = harness.store.ledger, harness.kept("one")
            harness.publish()
            path = layout.path_for(atom)
            ledger.saw("notes/x.md", b"", STAMP, 1, None, FileState.FOREIGN)
            ledger.saw("atoms/bad.md", b"??", STAMP, 1, None, FileState.BAD)
            assert {line.path: line.state for line in ledger.lines()} == {
                path: FileState.ATOM,
                "notes/x.md": FileState.FOREIGN,
                "atoms/bad.md": FileState.BAD,
            }
            summary = ledger.summary()
            assert (summary["files"], summary["foreign"], summary["unreadable"]) == (1, 1, 1)
            for name in ("notes/x.md", "atoms/bad.md", path, "nowhere.md"):
                ledger.forget_file(name)
            assert [line.path for line in ledger.lines()] == [path]
            ledger.unchanged([(path, Stamp(1, 2, 3, 4))], 9_000)
            line = ledger.line(path)
            assert line is not None
            assert (line.stamp, line.checked_ns) == (Stamp(1, 2, 3, 4), 9_000)
            assert ledger.calm(8_997) == ({path: Stamp(1, 2, 3, 4)}, [])
            assert ledger.calm(8_998) == ({}, [line])
            ledger.gone(path)
            assert ledger.calm(0) == ({}, ledger.lines())
            assert ledger.paths_of([atom.id]) == {}
            assert ledger.row("nowhere.md") is None
            assert ledger.line("nowhere.md") is None

    def test_a_write_given_up_is_no_longer_pending_and_its_file_is_read_again(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            ledger, atom = harness.store.ledger, harness.kept("one")
            (pending,) = ledger.pending(10)
            ledger.withdrawn(pending)
            assert ledger.pending(10) == []
            row = ledger.row_of(atom.id)
            assert row is not None
            assert row.line.state is FileState.BAD

    def test_what_came_out_of_an_exchange_is_remembered_for_a_while(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            ledger, name = harness.store.ledger, hashlib.sha256(b"old").hexdigest()
            assert ledger.came_out(name) is None
            ledger.wrote([], 10**18, [b"old"])
            assert ledger.came_out(name) == b"old"
            ledger.forget_came_out(10**18)
            assert ledger.came_out(name) == b"old"
            ledger.forget_came_out(10**18 + 1)
            assert ledger.came_out(name) is None

    def test_problems_are_listed_until_they_are_mended(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            ledger = harness.store.ledger
            ledger.report(Problem("a.md", "unreadable", "line 3 is odd", 3))
            harness.clock.at = NOON + DAY
            ledger.report(Problem("b.md", "duplicate-id", "twice"))
            ledger.report(Problem("a.md", "ignored-field", "id", 1))
            ledger.report(Problem("a.md", "unreadable", "line 3 is odd", 3))
            problems = ledger.problems()
            assert [(each.path, each.kind) for each in problems] == [
                ("a.md", "unreadable"),
                ("a.md", "ignored-field"),
                ("b.md", "duplicate-id"),
            ]
            assert (problems[0].line, problems[0].message, problems[0].at) == (3, "line 3 is odd", NOON)
            ledger.report(Problem("a.md", "unreadable", "line 4 is odd", 4))
            assert [problem.line for problem in ledger.problems() if problem.kind == "unreadable"] == [4]
            ledger.clear("a.md", ["ignored-field", "no-such"])
            assert len(ledger.problems()) == ledger.summary()["problems"] == 2
            ledger.clear("a.md")
            ledger.clear("nowhere.md")
            assert [problem.path for problem in ledger.problems()] == ["b.md"]

    def test_signals_are_counted_beside_the_journal(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            ledger, atom = harness.store.ledger, harness.kept()
            assert ledger.signals(atom.id) == Signals()
            whole = Signals(1.5, 3, NOON, (NOON - DAY, NOON), NOON - 9 * DAY, 3, 2.0, 1.0)
            ledger.set_signals(atom.id, whole)
            assert ledger.signals(atom.id) == whole
            assert ledger.signals_of([atom.id]) == {atom.id: whole}
            assert harness.store.position() == 1
            assert harness.head(atom).revision == 1

    def test_of_uses_that_were_only_counted_the_last_is_known(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            ledger, atom = harness.store.ledger, harness.kept()
            ledger.set_signals(atom.id, Signals(1.5, 3, NOON))
            assert ledger.signals(atom.id) == Signals(1.5, 3, NOON, uses=(NOON,))
            ledger.set_signals(atom.id, Signals(0.9))
            assert ledger.signals(atom.id) == Signals(0.9)

    def test_an_atom_is_known_by_its_files_name_or_the_id_it_had_elsewhere(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            ledger, atom = harness.store.ledger, harness.kept("one", source_ref="mem-17")
            assert ledger.atom_named(layout.stem(layout.path_for(atom))) == atom.id
            assert ledger.atom_named("mem-17") == atom.id
            assert ledger.atom_named("mem-18") is None
            harness.kept("two", source_ref="mem-17")
            assert ledger.atom_named("mem-17") is None
