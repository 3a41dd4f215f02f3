"""Contract of text search and of the graph."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from random import Random

from lamina.atom.atom import AtomId, Evidence, Relation, RelationName
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.passage import render_passage
from lamina.atom.provenance import Scope
from lamina.atom.status import Status
from lamina.store.base import Edge, EvidenceSpan
from lamina.testing.store_harness import ANN, BOB, DAY, LOCAL, NOON, OTHER, STATUS_TRANSITIONS, Contract, StoreHarness
from lamina.text.analyser import analyse


class SearchContract(Contract):
    """Tests of search by words and links; a rebuilt index returns the same."""

    def test_a_passage_is_found_by_any_of_its_words_and_scored_word_by_word(self, harness: StoreHarness) -> None:
        tea = harness.add("green tea and green leaves")
        harness.add("black coffee")
        (match,) = harness.search("green tea please")
        assert (match.atom_id, match.n, match.status) == (tea.id, 1, Status.ACTIVE)
        assert {token for token, _ in match.token_scores} == set(analyse("green tea"))
        assert all(part > 0 for _, part in match.token_scores)
        assert abs(match.score - sum(part for _, part in match.token_scores)) < 1e-12
        assert harness.find_ids("nothing like it") == []
        assert harness.search("") == []

    def test_required_words_exclude_other_passages_without_changing_scores(self, harness: StoreHarness) -> None:
        both, tea = harness.add("green tea from the hill"), harness.add("tea and milk")
        harness.add("green paint"), harness.add("a hill")
        every = {match.atom_id: match for match in harness.search("green tea hill")}
        assert harness.search("green tea hill", required_tokens=tuple(analyse("green tea"))) == [every[both.id]]
        matches = {
            match.atom_id: match for match in harness.search("green tea hill", required_tokens=tuple(analyse("tea")))
        }
        assert matches == {atom.id: every[atom.id] for atom in (both, tea)}
        assert harness.search("green tea hill", required_tokens=tuple(analyse("harbour"))) == []

    def test_a_segment_is_found_by_the_turn_that_contains_the_word(self, harness: StoreHarness) -> None:
        turns = [render_passage(n, text, who, NOON) for n, text, who in ((1, "hello", "Ann"), (2, "zebra", "Bob"))]
        segment = harness.add("\n\n".join(turns), kind="narrative", session_id="s", segment_id="s-1")
        assert [(match.atom_id, match.n) for match in harness.search("zebra")] == [(segment.id, 2)]
        assert [match.n for match in harness.search("Ann")] == [1]

    def test_nothing_in_another_scope_changes_a_score(self, harness: StoreHarness) -> None:
        for n in range(6):
            harness.add(f"tea number {n} " + "leaf " * n)
        before = harness.search("tea leaf number")
        for n in range(40):
            harness.add(f"tea leaf number {n} " * 5, scope=random_scope(n))
        assert harness.search("tea leaf number") == before
        assert [m for m in harness.search("tea leaf number", LOCAL, ANN, limit=100) if m in before] == before

    def test_atoms_outside_ordinary_recall_do_not_change_scores(self, harness: StoreHarness) -> None:
        harness.add("green tea"), harness.add("black tea and milk")
        before = harness.search("tea milk")
        for status in Status:
            if status not in (Status.ACTIVE, Status.ARCHIVED):
                harness.add("tea milk tea milk " * 3, status=status)
        assert harness.search("tea milk") == before

    def test_an_atom_is_found_with_its_status_only(self, harness: StoreHarness) -> None:
        atoms = {status: harness.add("tea", status=status) for status in Status}
        for status in Status:
            assert harness.find_ids("tea", statuses=frozenset({status})) == [atoms[status].id]
        assert set(harness.find_ids("tea")) == {atoms[Status.ACTIVE].id, atoms[Status.ARCHIVED].id}
        assert harness.find_ids("tea", statuses=frozenset()) == []
        changed = harness.commit(atoms[Status.ACTIVE].with_(status=Status.SUPERSEDED)).atoms[0]
        assert changed.id not in harness.find_ids("tea")
        assert changed.id in harness.find_ids("tea", statuses=frozenset({Status.SUPERSEDED}))

    def test_an_atom_is_found_by_its_memory_type_and_while_it_is_valid(self, harness: StoreHarness) -> None:
        rule, event = harness.add("tea rule", kind="rule"), harness.add("tea event", kind="event")
        assert harness.find_ids("tea", memory_types=frozenset({MemoryType.PROCEDURE})) == [rule.id]
        assert harness.find_ids("tea", memory_types=frozenset({MemoryType.NARRATIVE})) == [event.id]
        assert harness.find_ids("tea", memory_types=frozenset()) == []
        profile = harness.add("tea profile", layer=Layer.PROFILE)
        assert harness.find_ids("tea", layers=frozenset({Layer.PROFILE})) == [profile.id]
        assert harness.find_ids("tea", layers=frozenset()) == []
        now = harness.add("coffee", valid_from=NOON, valid_until=NOON + DAY)
        assert harness.find_ids("coffee", valid_at=NOON) == [now.id]
        assert harness.find_ids("coffee", valid_at=NOON - timedelta(milliseconds=1)) == []
        assert harness.find_ids("coffee", valid_at=NOON + DAY) == []

    def test_new_text_is_found_immediately_and_replaced_text_is_not(self, harness: StoreHarness) -> None:
        atom = harness.add("green zebra")
        harness.commit(atom.with_(content="black panther"))
        assert harness.find_ids("zebra green") == []
        assert harness.find_ids("panther") == [atom.id]

    def test_ties_are_all_returned_deterministically(self, harness: StoreHarness) -> None:
        tied = {harness.add("tea time", subject=str(n)).id for n in range(30)}
        first = harness.search("tea", limit=5)
        assert {match.atom_id for match in first} == tied
        assert len({match.score for match in first}) == 1
        harness.store.admin.rebuild_index()
        assert harness.search("tea", limit=5) == first

    def test_filters_are_applied_before_the_limit(self, harness: StoreHarness) -> None:
        harness.commit(*[harness.new_atom("tea tea", kind="rule", subject=str(n)) for n in range(700)])
        filters = harness.commit(*[harness.new_atom(f"tea once in a long text, number {n}") for n in range(5)]).atoms
        matches = harness.find_ids("tea", limit=5, memory_types=frozenset({MemoryType.FACT}))
        assert set(matches) == {atom.id for atom in filters}

    def test_a_query_of_hostile_tokens_is_only_a_query(self, harness: StoreHarness) -> None:
        harness.add("or and not near tea")
        for words in ("OR", "AND NOT", "NEAR(tea 3)", '"tea" OR "', "tea*", "-tea", "tea:x", "'; DROP TABLE heads"):
            harness.search(words)
        assert harness.find_ids("near") == [harness.read()[0].id]

    def test_statements_resting_on_a_passage_are_returned_whatever_their_status(self, harness: StoreHarness) -> None:
        words = harness.add("said")
        first, other = Evidence(words.id, 1, 0, 4), Evidence(words.id, 2, 3, 9)
        one = harness.add("one", evidence=(first, other))
        ended = harness.add("ended", evidence=(first,), status=Status.SUPERSEDED)
        harness.add("theirs", scope=ANN, evidence=(first,))
        resting = [EvidenceSpan(atom_id, words.id, 1, 0, 4) for atom_id in sorted([one.id, ended.id])]
        assert harness.graph.find_evidence([(words.id, 1)], [LOCAL]).spans == resting
        assert harness.graph.find_evidence([(words.id, 2), (words.id, 3)], [LOCAL]).spans == [
            EvidenceSpan(one.id, words.id, 2, 3, 9)
        ]
        harness.commit(one.with_(evidence=(other,)))
        assert harness.graph.find_evidence([(words.id, 1)], [LOCAL]).spans == [
            EvidenceSpan(ended.id, words.id, 1, 0, 4)
        ]
        assert harness.graph.find_evidence([], [LOCAL]).spans == []

    def test_subjects_are_found_by_prefix(self, harness: StoreHarness) -> None:
        harness.add("a", subject="Garden Shed")
        harness.add("b", subject="garage")
        harness.add("c", subject="kitchen")
        harness.add("d", scope=ANN, subject="gable")
        assert harness.store.atoms.find_subjects(LOCAL, ["garden"]) == ["garage", "garden shed"]
        assert harness.store.atoms.find_subjects(LOCAL, ["kit", "shed"]) == ["kitchen"]
        assert harness.store.atoms.find_subjects(LOCAL, []) == []

    def test_relations_are_edges_seen_from_both_ends_within_the_scopes(self, harness: StoreHarness) -> None:
        a, b, c = (harness.add(name) for name in "abc")
        theirs = harness.add("theirs", scope=ANN, relations=(Relation(RelationName.SUPPORTS, a.id),))
        a = harness.commit(a.with_(relations=(Relation(RelationName.CAUSED_BY, b.id, 0.5),), supersedes=(c.id,))).atoms[
            0
        ]
        caused, replaced = Edge(a.id, "caused_by", b.id, 0.5), Edge(a.id, "supersedes", c.id, 1.0)
        assert harness.graph.edges([a.id], [LOCAL]) == [caused, replaced]
        assert harness.graph.edges([b.id], [LOCAL]) == [caused]
        assert harness.graph.edges([a.id], [OTHER]) == []
        assert Edge(theirs.id, "supports", a.id, 1.0) in harness.graph.edges([a.id], [LOCAL, ANN])
        harness.commit(a.with_(relations=(), supersedes=()))
        assert harness.graph.edges([a.id, b.id, c.id], [LOCAL]) == []
        assert harness.graph.edges([], [LOCAL]) == []

    def test_edges_can_be_limited_by_status(self, harness: StoreHarness) -> None:
        past, now = harness.add("past", subject="tea"), harness.add("now", subject="tea")
        harness.commit(past.with_(status=Status.SUPERSEDED)), harness.commit(now.with_(supersedes=(past.id,)))
        results = {
            name: [edge.source for edge in harness.graph.edges(["subject:tea", past.id], [LOCAL], statuses)]
            for name, statuses in {"all": None, "active": {Status.ACTIVE}, "none": set[Status]()}.items()
        }
        assert sorted(results["all"]) == sorted([past.id, now.id, now.id])
        assert (results["active"], results["none"]) == ([now.id, now.id], [])

    def test_all_relations_of_a_name_can_be_listed_by_scope_and_status(self, harness: StoreHarness) -> None:
        a, b, c = (harness.add(name) for name in "abc")
        against = Relation(RelationName.CONTRADICTS, a.id, 0.5)
        harness.commit(b.with_(relations=(against, Relation(RelationName.SUPPORTS, c.id))))
        theirs = harness.add("theirs", scope=ANN, relations=(against,))
        over = harness.commit(c.with_(relations=(against,), status=Status.SUPERSEDED)).atoms[0]

        def find_pairs(*scopes: Scope, statuses: frozenset[Status] = frozenset({Status.ACTIVE})) -> list[Edge]:
            return harness.graph.edges(None, scopes, statuses, RelationName.CONTRADICTS)

        assert find_pairs(LOCAL) == [Edge(b.id, "contradicts", a.id, 0.5)]
        assert {edge.source for edge in find_pairs(LOCAL, ANN)} == {b.id, theirs.id}
        assert find_pairs(ANN) == find_pairs() == find_pairs(OTHER) == find_pairs(LOCAL, statuses=frozenset()) == []
        assert [edge.source for edge in find_pairs(LOCAL, statuses=frozenset({Status.SUPERSEDED}))] == [over.id]
        assert harness.graph.edges(None, [LOCAL], [Status.ACTIVE], RelationName.CAUSED_BY) == []
        assert harness.graph.edges([c.id], [LOCAL], [Status.ACTIVE], RelationName.SUPPORTS) == [
            Edge(b.id, "supports", c.id, 1.0)
        ]
        assert harness.graph.edges([c.id], [LOCAL], [Status.ACTIVE], RelationName.CONTRADICTS) == []

    def test_what_contradicts_statements_is_found_with_what_rests_on_passages(self, harness: StoreHarness) -> None:
        words = harness.add("said")
        resting = harness.add("resting", evidence=(Evidence(words.id, 1, 0, 4),))
        given, beside = harness.add("given"), harness.add("beside")
        against = [Relation(RelationName.CONTRADICTS, atom.id, 0.5) for atom in (resting, given, beside)]
        newer = harness.add("newer", relations=tuple(against))
        harness.add("ended", relations=tuple(against), status=Status.SUPERSEDED)
        harness.add("theirs", relations=tuple(against), scope=ANN)

        def targets(keys: list[tuple[AtomId, int]], *statements: AtomId) -> list[tuple[AtomId, str]]:
            links = harness.graph.find_evidence(keys, [LOCAL], statements)
            assert {edge.name for edge in links.contradictions} <= {"contradicts"}
            return sorted((edge.source, edge.target) for edge in links.contradictions)

        assert targets([(words.id, 1)]) == [(newer.id, resting.id)]
        assert targets([(words.id, 1)], given.id) == sorted([(newer.id, resting.id), (newer.id, given.id)])
        assert targets([(words.id, 2)], given.id) == targets([], given.id) == [(newer.id, given.id)]
        assert targets([(words.id, 2)]) == targets([]) == []
        assert harness.graph.find_evidence([], [OTHER], [given.id]).contradictions == []

    def test_a_neighbourhood_is_what_a_walk_follows(self, harness: StoreHarness) -> None:
        far, further = harness.add("far"), harness.add("further")
        links = (Relation(RelationName.SUPPORTS, far.id, 0.5), Relation(RelationName.CAUSED_BY, further.id))
        start = harness.add("start", subject="tea", relations=links[:1])
        harness.commit(far.with_(relations=links[1:]))
        ended = harness.add("ended", status=Status.SUPERSEDED, relations=(Relation(RelationName.SUPPORTS, start.id),))
        busy = [harness.add(f"busy {n}", subject="tea") for n in range(3)]
        harness.add("theirs", subject="tea", scope=ANN)

        def walk(hops: int, max_links: int, without: str = "evidence") -> set[tuple[str, str]]:
            edges = harness.graph.neighbourhood([start.id], [LOCAL], [Status.ACTIVE], hops, max_links, (without,))
            assert edges == sorted(set(edges), key=lambda edge: (edge.source, edge.name, edge.target))
            return {(edge.source, edge.target) for edge in edges}

        near = {(start.id, far.id), (start.id, "subject:tea")}
        beyond = {(far.id, further.id)}
        assert walk(1, 9) == near
        assert walk(2, 9) == near | beyond | {(atom.id, "subject:tea") for atom in busy}
        assert walk(2, 3) == near | beyond
        assert walk(1, 1) == walk(2, 1) == set()
        assert walk(2, 9, "subject") == {(start.id, far.id)} | beyond
        assert ended.id not in {end for pair in walk(2, 9) for end in pair}
        assert harness.graph.neighbourhood([], [LOCAL], [Status.ACTIVE], 2, 9, ()) == []

    def test_a_chain_of_successors_is_followed_to_atoms_that_have_not_ended(self, harness: StoreHarness) -> None:
        first = harness.add("first")
        second = harness.add("second", supersedes=(first.id,))
        last = harness.add("last", supersedes=(second.id,), status=Status.CHALLENGED)
        beside = harness.add("beside", supersedes=(first.id,))
        theirs = harness.add("theirs", supersedes=(second.id,), scope=ANN)
        ids = [first.id, second.id, last.id]
        assert harness.graph.find_successors(ids, [LOCAL]) == {atom_id: [atom_id] for atom_id in ids}
        harness.commit(first.with_(status=Status.SUPERSEDED), second.with_(status=Status.INVALIDATED))
        ends = {first.id: {last.id, beside.id}, second.id: {last.id}, last.id: {last.id}}
        successors = harness.graph.find_successors(ids, [LOCAL])
        assert {atom_id: set(matches) for atom_id, matches in successors.items()} == ends
        assert set(harness.graph.find_successors([second.id], [LOCAL, ANN])[second.id]) == {last.id, theirs.id}
        assert harness.graph.find_successors(ids, [OTHER]) == harness.graph.find_successors([], [LOCAL]) == {}

    def test_a_rebuilt_index_answers_as_the_incremental_one(self, harness: StoreHarness) -> None:
        random, words = Random(11), ["tea", "milk", "sugar", "honey", "lemon", "green", "black"]
        for _ in range(60):
            text = " ".join(random.choices(words, k=random.randint(1, 8)))
            atoms = harness.read()
            if atoms and random.random() < 0.5:
                atom = random.choice(atoms)
                new = Status(random.choice([*STATUS_TRANSITIONS[atom.status].split(), atom.status]))
                harness.commit(
                    atom.with_(content=text, status=new, relations=(Relation(RelationName.SUPPORTS, atoms[0].id),))
                )
            else:
                harness.add(text)
        ids = [atom.id for atom in harness.read()]

        def answers() -> list[object]:
            matches: list[object] = [harness.search(word, statuses=frozenset(Status), limit=50) for word in words]
            return [*matches, harness.search("green tea", limit=3), harness.graph.edges(ids, [LOCAL])]

        before = answers()
        assert harness.store.admin.rebuild_index() == len(ids)
        assert answers() == before
        assert harness.store.admin.check() == []

    def test_the_store_writes_no_files_into_the_vault(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            atom = harness.add("tea")
            harness.commit(atom.with_(status=Status.ARCHIVED))
            harness.store.admin.rebuild_index()
        assert [path for path in tmp_path.rglob("*") if path.suffix == ".md"] == []


def random_scope(n: int) -> Scope:
    """Return a scope other than the local one."""
    return (OTHER, ANN, BOB)[n % 3]
