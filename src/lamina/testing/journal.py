"""Contract of the journal: earlier versions of atoms, and the list of commits."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Origin
from lamina.atom.status import Status
from lamina.errors import Refused, StalePosition
from lamina.store.base import CommitResult
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
