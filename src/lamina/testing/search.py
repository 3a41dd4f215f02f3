"""Contract of text search and of the graph."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from random import Random

from lamina.atom.atom import Evidence
from lamina.atom.kinds import MemoryType
from lamina.atom.passage import render_passage
from lamina.atom.relation import Relation, RelationName
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.store.base import Edge, Rest
from lamina.testing.hand import ANN, ARROWS, BOB, DAY, LOCAL, NOON, OTHER, Contract
from lamina.text.analyse import analyse


class SearchContract(Contract):
    """What is found by words and links; a rebuilt index finds the same."""

    def test_a_passage_is_found_by_any_of_its_words_and_scored_word_by_word(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            tea = harness.kept("green tea and green leaves")
            harness.kept("black coffee")
            (match,) = harness.search("green tea please")
            assert (match.atom_id, match.n, match.status) == (tea.id, 1, Status.ACTIVE)
            assert {token for token, _ in match.parts} == set(analyse("green tea"))
            assert all(part > 0 for _, part in match.parts)
            assert abs(match.score - sum(part for _, part in match.parts)) < 1e-12
            assert harness.found("nothing like it") == []
            assert harness.search("") == []

    def test_words_that_must_stand_in_a_passage_keep_all_others_out_and_change_no_score(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            both, tea = harness.kept("green tea from the hill"), harness.kept("tea and milk")
            harness.kept("green paint"), harness.kept("a hill")
            every = {match.atom_id: match for match in harness.search("green tea hill")}
            assert harness.search("green tea hill", holding=tuple(analyse("green tea"))) == [every[both.id]]
            matches = {
                match.atom_id: match for match in harness.search("green tea hill", holding=tuple(analyse("tea")))
            }
            assert matches == {each.id: every[each.id] for each in (both, tea)}
            assert harness.search("green tea hill", holding=tuple(analyse("harbour"))) == []

    def test_a_segment_is_found_by_the_turn_that_says_it(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            turns = [render_passage(n, text, who, NOON) for n, text, who in ((1, "hello", "Ann"), (2, "zebra", "Bob"))]
            segment = harness.kept("\n\n".join(turns), kind="narrative", session_id="s", segment_id="s-1")
            assert [(match.atom_id, match.n) for match in harness.search("zebra")] == [(segment.id, 2)]
            assert [match.n for match in harness.search("Ann")] == [1]

    def test_nothing_in_another_scope_moves_a_score(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            for n in range(6):
                harness.kept(f"tea number {n} " + "leaf " * n)
            before = harness.search("tea leaf number")
            for n in range(40):
                harness.kept(f"tea leaf number {n} " * 5, scope=random_scope(n))
            assert harness.search("tea leaf number") == before
            assert [m for m in harness.search("tea leaf number", LOCAL, ANN, limit=100) if m in before] == before

    def test_what_normal_recall_does_not_search_moves_no_score_either(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            harness.kept("green tea"), harness.kept("black tea and milk")
            before = harness.search("tea milk")
            for status in Status:
                if status not in (Status.ACTIVE, Status.ARCHIVED):
                    harness.kept("tea milk tea milk " * 3, status=status)
            assert harness.search("tea milk") == before

    def test_an_atom_is_found_with_its_status_only(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            atoms = {status: harness.kept("tea", status=status) for status in Status}
            for status in Status:
                assert harness.found("tea", statuses=frozenset({status})) == [atoms[status].id]
            assert set(harness.found("tea")) == {atoms[Status.ACTIVE].id, atoms[Status.ARCHIVED].id}
            assert harness.found("tea", statuses=frozenset()) == []
            changed = harness.put(atoms[Status.ACTIVE].with_(status=Status.SUPERSEDED)).atoms[0]
            assert changed.id not in harness.found("tea")
            assert changed.id in harness.found("tea", statuses=frozenset({Status.SUPERSEDED}))

    def test_an_atom_is_found_by_its_sort_and_while_it_is_valid(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            rule, event = harness.kept("tea rule", kind="rule"), harness.kept("tea event", kind="event")
            assert harness.found("tea", memory_types=frozenset({MemoryType.PROCEDURE})) == [rule.id]
            assert harness.found("tea", memory_types=frozenset({MemoryType.NARRATIVE})) == [event.id]
            assert harness.found("tea", memory_types=frozenset()) == []
            now = harness.kept("coffee", valid_from=NOON, valid_until=NOON + DAY)
            assert harness.found("coffee", valid_at=NOON) == [now.id]
            assert harness.found("coffee", valid_at=NOON - timedelta(milliseconds=1)) == []
            assert harness.found("coffee", valid_at=NOON + DAY) == []

    def test_what_is_written_is_found_at_once_and_what_was_replaced_is_not(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            atom = harness.kept("green zebra")
            harness.put(atom.with_(content="black panther"))
            assert harness.found("zebra green") == []
            assert harness.found("panther") == [atom.id]

    def test_ties_are_all_told_and_told_the_same_every_time(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            tied = {harness.kept("tea time", subject=str(n)).id for n in range(30)}
            first = harness.search("tea", limit=5)
            assert {match.atom_id for match in first} == tied
            assert len({match.score for match in first}) == 1
            harness.store.rebuild()
            assert harness.search("tea", limit=5) == first

    def test_filters_are_met_however_many_better_matches_they_leave_out(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            harness.put(*[harness.atom("tea tea", kind="rule", subject=str(n)) for n in range(700)])
            filters = harness.put(*[harness.atom(f"tea once in a long text, number {n}") for n in range(5)]).atoms
            matches = harness.found("tea", limit=5, memory_types=frozenset({MemoryType.FACT}))
            assert set(matches) == {atom.id for atom in filters}

    def test_a_query_of_hostile_tokens_is_only_a_query(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            harness.kept("or and not near tea")
            for words in ("OR", "AND NOT", "NEAR(tea 3)", '"tea" OR "', "tea*", "-tea", "tea:x", "'; DROP TABLE heads"):
                harness.search(words)
            assert harness.found("near") == [harness.read()[0].id]

    def test_who_rests_on_a_passage_is_told_whatever_became_of_them(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            words = harness.kept("said")
            first, other = Evidence(words.id, 1, 0, 4), Evidence(words.id, 2, 3, 9)
            one = harness.kept("one", evidence=(first, other))
            ended = harness.kept("ended", evidence=(first,), status=Status.SUPERSEDED)
            harness.kept("theirs", scope=ANN, evidence=(first,))
            resting = [Rest(each.id, words.id, 1, 0, 4) for each in sorted([one, ended], key=lambda each: each.id)]
            assert harness.store.resting([(words.id, 1)], [LOCAL]) == resting
            assert harness.store.resting([(words.id, 2), (words.id, 3)], [LOCAL]) == [Rest(one.id, words.id, 2, 3, 9)]
            harness.put(one.with_(evidence=(other,)))
            assert harness.store.resting([(words.id, 1)], [LOCAL]) == [Rest(ended.id, words.id, 1, 0, 4)]
            assert harness.store.resting([], [LOCAL]) == []

    def test_subjects_are_told_by_how_they_begin(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            harness.kept("a", subject="Garden Shed")
            harness.kept("b", subject="garage")
            harness.kept("c", subject="kitchen")
            harness.kept("d", scope=ANN, subject="gable")
            assert harness.store.subjects(LOCAL, ["garden"]) == ["garage", "garden shed"]
            assert harness.store.subjects(LOCAL, ["kit", "shed"]) == ["kitchen"]
            assert harness.store.subjects(LOCAL, []) == []

    def test_relations_are_edges_seen_from_both_ends_within_the_scopes(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            a, b, c = (harness.kept(name) for name in "abc")
            theirs = harness.kept("theirs", scope=ANN, relations=(Relation(RelationName.SUPPORTS, a.id),))
            a = harness.put(
                a.with_(relations=(Relation(RelationName.CAUSED_BY, b.id, 0.5),), supersedes=(c.id,))
            ).atoms[0]
            caused, replaced = Edge(a.id, "caused_by", b.id, 0.5), Edge(a.id, "supersedes", c.id, 1.0)
            assert harness.store.edges([a.id], [LOCAL]) == [caused, replaced]
            assert harness.store.edges([b.id], [LOCAL]) == [caused]
            assert harness.store.edges([a.id], [OTHER]) == []
            assert Edge(theirs.id, "supports", a.id, 1.0) in harness.store.edges([a.id], [LOCAL, ANN])
            harness.put(a.with_(relations=(), supersedes=()))
            assert harness.store.edges([a.id, b.id, c.id], [LOCAL]) == []
            assert harness.store.edges([], [LOCAL]) == []

    def test_edges_can_be_limited_to_those_of_atoms_that_stand_so(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            past, now = harness.kept("past", subject="tea"), harness.kept("now", subject="tea")
            harness.put(past.with_(status=Status.SUPERSEDED)), harness.put(now.with_(supersedes=(past.id,)))
            results = {
                name: [edge.source for edge in harness.store.edges(["subject:tea", past.id], [LOCAL], statuses)]
                for name, statuses in {"all": None, "active": {Status.ACTIVE}, "none": set[Status]()}.items()
            }
            assert sorted(results["all"]) == sorted([past.id, now.id, now.id])
            assert (results["active"], results["none"]) == ([now.id, now.id], [])

    def test_all_relations_of_a_name_are_told_of_atoms_that_stand_so_within_the_scopes(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            a, b, c = (harness.kept(name) for name in "abc")
            against = Relation(RelationName.CONTRADICTS, a.id, 0.5)
            harness.put(b.with_(relations=(against, Relation(RelationName.SUPPORTS, c.id))))
            theirs = harness.kept("theirs", scope=ANN, relations=(against,))
            over = harness.put(c.with_(relations=(against,), status=Status.SUPERSEDED)).atoms[0]

            def told(*scopes: Scope, statuses: frozenset[Status] = frozenset({Status.ACTIVE})) -> list[Edge]:
                return harness.store.links(RelationName.CONTRADICTS, scopes, statuses)

            assert told(LOCAL) == [Edge(b.id, "contradicts", a.id, 0.5)]
            assert {each.source for each in told(LOCAL, ANN)} == {b.id, theirs.id}
            assert told(ANN) == told() == told(OTHER) == told(LOCAL, statuses=frozenset()) == []
            assert [each.source for each in told(LOCAL, statuses=frozenset({Status.SUPERSEDED}))] == [over.id]
            assert harness.store.links(RelationName.CAUSED_BY, [LOCAL], [Status.ACTIVE]) == []
            for target, matches in ((a, 1), (b, 0)):
                told_of = harness.store.links(RelationName.CONTRADICTS, [LOCAL], [Status.ACTIVE], [target.id])
                assert len(told_of) == matches

    def test_a_chain_of_what_took_its_place_is_followed_to_what_has_not_ended(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            first = harness.kept("first")
            second = harness.kept("second", supersedes=(first.id,))
            last = harness.kept("last", supersedes=(second.id,), status=Status.CHALLENGED)
            beside = harness.kept("beside", supersedes=(first.id,))
            theirs = harness.kept("theirs", supersedes=(second.id,), scope=ANN)
            ids = [each.id for each in (first, second, last)]
            assert harness.store.followed(ids, [LOCAL]) == {atom_id: [atom_id] for atom_id in ids}
            harness.put(first.with_(status=Status.SUPERSEDED)), harness.put(second.with_(status=Status.INVALIDATED))
            ends = {first.id: {last.id, beside.id}, second.id: {last.id}, last.id: {last.id}}
            assert {each: set(matches) for each, matches in harness.store.followed(ids, [LOCAL]).items()} == ends
            assert set(harness.store.followed([second.id], [LOCAL, ANN])[second.id]) == {last.id, theirs.id}
            assert harness.store.followed(ids, [OTHER]) == harness.store.followed([], [LOCAL]) == {}

    def test_a_rebuilt_index_answers_as_the_kept_one(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            random, words = Random(11), ["tea", "milk", "sugar", "honey", "lemon", "green", "black"]
            for _ in range(60):
                text = " ".join(random.choices(words, k=random.randint(1, 8)))
                atoms = harness.read()
                if atoms and random.random() < 0.5:
                    atom = random.choice(atoms)
                    new = Status(random.choice([*ARROWS[atom.status].split(), atom.status]))
                    harness.put(
                        atom.with_(content=text, status=new, relations=(Relation(RelationName.SUPPORTS, atoms[0].id),))
                    )
                else:
                    harness.kept(text)
            ids = [atom.id for atom in harness.read()]

            def answers() -> list[object]:
                matches: list[object] = [harness.search(word, statuses=frozenset(Status), limit=50) for word in words]
                return [*matches, harness.search("green tea", limit=3), harness.store.edges(ids, [LOCAL])]

            before = answers()
            assert harness.store.rebuild() == len(ids)
            assert answers() == before
            assert harness.store.check() == []

    def test_the_store_itself_writes_nothing_into_the_vault(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            atom = harness.kept("tea")
            harness.put(atom.with_(status=Status.ARCHIVED))
            harness.store.rebuild()
        assert [path for path in tmp_path.rglob("*") if path.suffix == ".md"] == []


def random_scope(n: int) -> Scope:
    """Return a scope other than the local one."""
    return (OTHER, ANN, BOB)[n % 3]
