"""Contract of reading current atoms."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from lamina.atom.atom import AtomId, Evidence, Relation, RelationName
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.status import Status
from lamina.store.base import AtomFilter, TextQuery
from lamina.store.passages import PassageFilter
from lamina.testing.capabilities import Capability
from lamina.testing.store_harness import ANN, BOB, DAY, LOCAL, NOON, OTHER, Contract, StoreHarness
from lamina.vault import layout


class AtomReadContract(Contract):
    """Tests of reading atoms."""

    def test_an_atom_is_read_as_it_was_written(self, harness: StoreHarness) -> None:
        other = harness.add("other")
        atom = harness.add(
            "жук 🐞 \u2028 line\r\n\\ ' \"",
            subject="Käfer",
            attribute="farbe",
            value="rot",
            tags=("a", "b"),
            entities=("E",),
            agents=("ann",),
            metadata={"k": "v", "ü": ""},
            source_id="s",
            session_id="x",
            source_ref="r",
            evidence=(Evidence(other.id, 1, 0, 5),),
            principal="p",
            derived_from=(other.id,),
            valid_from=datetime(1, 1, 1, tzinfo=UTC),
            valid_until=datetime(9999, 12, 31, tzinfo=UTC),
            pinned=True,
            expires_at=NOON + DAY,
            run_id="run",
            confidence=0.1 + 0.2,
            importance=0.0,
            surprise=0.25,
            valence=-1.0,
            relations=(Relation(RelationName.SUPPORTS, other.id, 0.5, NOON),),
            supersedes=(other.id,),
            episode_id="e",
            box_id="b",
            trace_id="t",
            kind="own-kind",
        )
        assert harness.current(atom) == atom
        assert harness.journal.versions(atom.id)[0].atom == atom

    def test_without_scopes_nothing_is_returned(self, harness: StoreHarness) -> None:
        atom = harness.add("tea", relations=())
        assert harness.store.atoms.read(AtomFilter(scopes=())) == []
        assert harness.store.atoms.read(AtomFilter(scopes=(), ids=(atom.id,))) == []
        assert harness.journal.read([]) == []
        assert harness.store.graph.edges([atom.id], []) == []
        assert harness.store.atoms.count_by("status", AtomFilter(scopes=())) == {}
        everything = PassageFilter(
            scopes=(), statuses=frozenset(Status), memory_types=frozenset(MemoryType), valid_at=NOON
        )
        query = TextQuery(filter=everything, tokens=("tea",), limit=10)
        assert harness.store.passages.search_text(query) == []

    def test_many_filters_return_what_each_of_them_returns(self, harness: StoreHarness) -> None:
        atoms = [harness.add(f"tea {n}", subject=f"cup {n % 3}", session_id=f"s{n % 7}") for n in range(60)]
        filters = [
            AtomFilter(scopes=(LOCAL,)),
            AtomFilter(scopes=(OTHER,)),
            AtomFilter(scopes=(LOCAL,), subject="cup 1", limit=5, offset=2),
            AtomFilter(scopes=(LOCAL,), contents=("tea 7", "tea 8"), statuses=frozenset({Status.ACTIVE})),
            *(AtomFilter(scopes=(LOCAL,), ids=(atom.id,)) for atom in atoms),
        ]
        results = harness.store.atoms.read_many(filters)
        assert results == [harness.store.atoms.read(atom_filter) for atom_filter in filters]
        assert [len(result) for result in results[:4]] == [60, 0, 5, 2]
        assert harness.store.atoms.read_many([]) == []

    def test_a_scope_reads_exactly_the_scopes_it_names(self, harness: StoreHarness) -> None:
        for scope in (LOCAL, OTHER, ANN, BOB):
            harness.add(f"tea of {scope}", scope=scope)
        for filters in ((LOCAL,), (ANN,), (ANN, LOCAL), (BOB, OTHER)):
            assert {atom.scope for atom in harness.read(*filters)} == set(filters)
            assert len(harness.find_ids("tea", *filters)) == len(filters)
            assert {entry.scope for entry in harness.journal.read(filters)} == set(filters)
            assert harness.store.atoms.count_by("status", AtomFilter(scopes=filters)) == {"active": len(filters)}

    def test_every_part_of_a_filter_selects_atoms(self, harness: StoreHarness) -> None:
        plain = harness.add("Plain words!")
        rule = harness.add("a rule", kind="rule", subject="Größe  Zwei", status=Status.CHALLENGED)
        city = harness.add(
            "Oslo", subject="Ann", attribute="City", session_id="s1", valid_from=NOON, valid_until=NOON + DAY
        )
        bare = harness.add("🦊", subject="!!!", layer=Layer.PROFILE)

        def chosen(**filters: Any) -> set[AtomId]:
            matches = {atom.id for atom in harness.read(**filters)}
            assert sum(
                harness.store.atoms.count_by("status", AtomFilter(scopes=(LOCAL,), **filters, limit=1)).values()
            ) == len(matches)
            return matches

        assert chosen() == {plain.id, rule.id, city.id, bare.id}
        assert chosen(ids=(plain.id, city.id)) == {plain.id, city.id}
        assert chosen(ids=()) == set()
        assert chosen(id_suffix=rule.id[-8:]) == {rule.id}
        assert chosen(statuses=frozenset({Status.CHALLENGED})) == {rule.id}
        assert chosen(statuses=frozenset()) == set()
        assert chosen(kinds=frozenset({"rule"})) == {rule.id}
        assert chosen(kinds=frozenset({"rule", "fact"})) == chosen()
        assert chosen(memory_types=frozenset({MemoryType.PROCEDURE})) == {rule.id}
        assert chosen(layers=frozenset({Layer.PROFILE})) == {bare.id}
        assert chosen(layers=frozenset({Layer.PROCEDURAL, Layer.PROFILE})) == {rule.id, bare.id}
        assert chosen(subject="grösse zwei") == chosen(subject="GRÖSSE zwei!") == {rule.id}
        assert chosen(subject="?") == chosen(subject="") == chosen(subject="unknown") == set()
        assert chosen(claims=("ann::city",)) == {city.id}
        assert chosen(claims=()) == set()
        assert chosen(session_id="s1") == {city.id}
        assert chosen(episode_id=f"{NOON:%Y-%m-%d}:s1") == {city.id}
        assert chosen(episode_id="s1") == chosen(source_ref="s1") == set()
        assert chosen(run_id="run") == set()
        assert chosen(contents=("PLAIN, words",)) == {plain.id}
        assert chosen(contents=("oslo", "plain words")) == {plain.id, city.id}
        assert chosen(contents=("🦊",)) == chosen(contents=()) == set()
        assert chosen(valid_at=NOON) == chosen(valid_at=NOON + DAY - timedelta(milliseconds=1)) == chosen()
        assert chosen(valid_at=NOON - timedelta(milliseconds=1)) == chosen(valid_at=NOON + DAY) == chosen() - {city.id}
        assert chosen(kinds=frozenset({"fact"}), session_id="s1", valid_at=NOON) == {city.id}

    def test_notes_of_a_run_are_selected_by_its_id_and_can_be_excluded(self, harness: StoreHarness) -> None:
        plain = harness.add("plain")
        loose = harness.add("a note of no run", layer=Layer.WORKING)
        note = harness.add("a note", layer=Layer.WORKING, run_id="task 7")
        event = harness.add("how it ended", kind="event", run_id="task 7")
        other = harness.add("another's note", layer=Layer.WORKING, run_id="Task 7")
        harness.add("elsewhere", layer=Layer.WORKING, run_id="task 7", scope=OTHER)

        def chosen(**filters: Any) -> set[AtomId]:
            return {atom.id for atom in harness.read(**filters)}

        assert chosen(run_id="task 7") == {note.id, event.id}
        assert chosen(run_id="Task 7") == {other.id}
        assert chosen(run_id="task 8") == chosen(run_id="") == set()
        assert chosen(include_run_notes=False) == {plain.id, loose.id, event.id}
        assert chosen(run_id="task 7", include_run_notes=False) == {event.id}
        gone = harness.current(harness.commit(note.with_(status=Status.TOMBSTONED)).atoms[0])
        assert chosen(run_id="task 7", statuses=frozenset({Status.TOMBSTONED})) == {gone.id}
        assert len(harness.read(include_run_notes=False, limit=2)) == 2

    def test_atoms_are_ordered_by_newest_record_then_id_and_paged(self, harness: StoreHarness) -> None:
        for minute in (0, 0, 3, 1, 2):
            harness.clock.at = NOON + timedelta(minutes=minute)
            harness.commit(harness.new_atom(f"{minute} a"), harness.new_atom(f"{minute} b"))
        everything = harness.read()
        assert everything == sorted(everything, key=lambda atom: (-_seconds(atom.recorded_at), atom.id))
        pages = [harness.read(limit=3, offset=start) for start in range(0, 12, 3)]
        assert [atom for page in pages for atom in page] == everything
        assert harness.read(offset=4) == everything[4:]
        assert harness.read(limit=0) == harness.read(limit=5, offset=10) == []

    def test_more_ids_than_an_sql_statement_allows_are_read(self, harness: StoreHarness) -> None:
        atom = harness.add()
        ids = tuple(harness.new_atom().id for _ in range(40_000))
        assert harness.read(ids=(*ids, atom.id)) == [atom]
        if Capability.FILES in self.capabilities:
            assert harness.store.projection.paths_of((*ids, atom.id)) == {atom.id: layout.path_for(atom)}

    def test_counts_of_atoms_by_field(self, harness: StoreHarness) -> None:
        harness.add("a"), harness.add("b", kind="rule"), harness.add("c", status=Status.ARCHIVED)
        counts = {
            "status": {"active": 2, "archived": 1},
            "kind": {"fact": 2, "rule": 1},
            "memory_type": {"fact": 2, "procedure": 1},
            "layer": {"semantic": 2, "procedural": 1},
        }
        for field, expected in counts.items():
            assert harness.store.atoms.count_by(field, AtomFilter(scopes=(LOCAL,), limit=1)) == expected


def _seconds(moment: datetime | None) -> float:
    return moment.timestamp() if moment else 0.0
