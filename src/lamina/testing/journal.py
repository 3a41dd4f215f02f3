"""Atoms as they were."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from random import Random

from lamina.atom.identity import AtomId
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.errors import Refused
from lamina.store.base import Committed
from lamina.testing.hand import ANN, ARROWS, BOB, DAY, LOCAL, NOON, OTHER, Contract


class JournalContract(Contract):
    """What the journal tells."""

    def test_versions_tell_what_each_commit_made_of_an_atom(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            first = hand.put(hand.atom("one"), actor="ann", verb="remember", reason="asked")
            atom = first.atoms[0]
            hand.clock.at = NOON + DAY
            grown = hand.put(atom.with_(content="one and two", pinned=True)).atoms[0]
            hand.put(hand.kept("another"))
            last = hand.put(grown.with_(status=Status.TOMBSTONED, content="three"), reason="no longer")
            told = hand.store.versions(atom.id)
            assert [version.atom.content for version in told] == ["one", "one and two", "three"]
            assert [version.revision for version in told] == [1, 2, 3]
            assert [version.old_status for version in told] == [None, Status.ACTIVE, Status.ACTIVE]
            assert [version.atom.status for version in told] == [Status.ACTIVE, Status.ACTIVE, Status.TOMBSTONED]
            assert [version.reason for version in told] == ["asked", "because", "no longer"]
            assert (told[0].actor, told[0].verb, told[0].at) == ("ann", "remember", NOON)
            assert (told[0].commit, told[2].commit, told[2].seq) == (first.id, last.id, last.seq)
            assert told[1].fields == {"content", "pinned"}
            assert told[2].fields == {"content", "status"}
            assert {"id", "content", "kind", "scope", "observed_at"} <= told[0].fields
            assert told[-1].atom == hand.head(atom)
            assert hand.store.versions(hand.atom().id) == []

    def test_the_journal_tells_commits_in_order_after_a_position_the_newest_of_them(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            done: list[Committed] = []
            for n in range(5):
                hand.clock.at = NOON + n * DAY
                done.append(
                    hand.put(hand.atom(f"n{n}"), reason=f"r{n}", batch="b", undoes=done[0].id if n == 4 else None)
                )
            entries = hand.store.journal([LOCAL])
            assert [entry.seq for entry in entries] == [1, 2, 3, 4, 5]
            assert [entry.id for entry in entries] == [committed.id for committed in done]
            assert [entry.reason for entry in entries] == ["r0", "r1", "r2", "r3", "r4"]
            assert (entries[4].undoes, entries[4].batch, entries[0].undoes) == (done[0].id, "b", None)
            assert [entry.seq for entry in hand.store.journal([LOCAL], 2)] == [3, 4, 5]
            assert [entry.seq for entry in hand.store.journal([LOCAL], 1, until=3)] == [2, 3]
            assert [entry.seq for entry in hand.store.journal([LOCAL], limit=2)] == [4, 5]
            assert [entry.seq for entry in hand.store.journal([LOCAL], 3, limit=9)] == [4, 5]
            assert hand.store.journal([LOCAL], 5) == hand.store.journal([LOCAL], limit=0) == []
            assert hand.store.journal([LOCAL], commit=done[2].id) == [entries[2]]
            assert hand.store.journal([LOCAL], commit="nobody") == []
            assert hand.store.position() == 5
            assert hand.store.position(before=NOON + 2 * DAY) == 2
            assert hand.store.position(before=NOON) == 0

    def test_an_entry_tells_the_fields_and_statuses_each_atom_got(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atom = hand.kept("tea", tags=("hot",), origin=Origin.AGENT)
            hand.put(atom.with_(status=Status.ARCHIVED, tags=("cold",)), origin=Origin.AGENT, actor="x", verb="v")
            birth, change = hand.store.journal([LOCAL])
            (born,), (changed,) = birth.changes, change.changes
            assert (born.old_status, born.new_status, born.revision) == (None, Status.ACTIVE, 1)
            assert born.fields["content"] == "tea"
            assert (changed.old_status, changed.new_status, changed.revision) == (Status.ACTIVE, Status.ARCHIVED, 2)
            assert changed.fields == {"status": "archived", "tags": ["cold"]}
            assert (change.actor, change.origin, change.verb, change.scope) == ("x", Origin.AGENT, "v", LOCAL)

    def test_a_scope_is_told_nothing_of_changes_in_another(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            hand.put(hand.atom("theirs", scope=OTHER), scope=OTHER)
            mixed = hand.put(hand.atom("private", scope=ANN), hand.atom("shared"), scope=ANN)
            (entry,) = hand.store.journal([LOCAL])
            assert entry.id == mixed.id
            assert [change.fields["content"] for change in entry.changes] == ["shared"]
            assert [len(entry.changes) for entry in hand.store.journal([ANN, LOCAL])] == [2]
            assert hand.store.journal([BOB]) == []
            theirs = hand.store.journal([OTHER])[0].id
            assert hand.store.journal([LOCAL, ANN], commit=theirs) == []

    def test_replaying_the_journal_gives_every_atom_as_it_is(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            random = Random(3)
            for n in range(60):
                atoms = hand.read()
                if atoms and random.random() < 0.7:
                    atom = random.choice(atoms)
                    new = random.choice([*ARROWS[atom.status].split(), atom.status])
                    with suppress(Refused):
                        hand.put(atom.with_(content=f"{atom.content} {n}", status=Status(new)))
                else:
                    hand.kept(f"atom {n}", kind=random.choice(["fact", "event", "rule"]))
            statuses: dict[AtomId, Status] = {}
            for entry in hand.store.journal([LOCAL]):
                for change in entry.changes:
                    assert statuses.get(change.atom_id) == change.old_status
                    statuses[change.atom_id] = change.new_status
            assert statuses == {atom.id: atom.status for atom in hand.read()}
            assert all(hand.store.versions(atom.id)[-1].atom == atom for atom in hand.read())
            assert hand.store.check() == []
