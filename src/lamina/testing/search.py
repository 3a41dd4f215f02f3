"""Passages by their words, and the graph."""

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
    """What is found by words and links, and that an index made anew finds the same."""

    def test_a_passage_is_found_by_any_of_its_words_and_scored_word_by_word(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            tea = hand.kept("green tea and green leaves")
            hand.kept("black coffee")
            (match,) = hand.search("green tea please")
            assert (match.atom_id, match.n, match.status) == (tea.id, 1, Status.ACTIVE)
            assert {token for token, _ in match.parts} == set(analyse("green tea"))
            assert all(part > 0 for _, part in match.parts)
            assert abs(match.score - sum(part for _, part in match.parts)) < 1e-12
            assert hand.found("nothing like it") == []
            assert hand.search("") == []

    def test_words_that_must_stand_in_a_passage_keep_all_others_out_and_change_no_score(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            both, tea = hand.kept("green tea from the hill"), hand.kept("tea and milk")
            hand.kept("green paint"), hand.kept("a hill")
            every = {match.atom_id: match for match in hand.search("green tea hill")}
            assert hand.search("green tea hill", holding=tuple(analyse("green tea"))) == [every[both.id]]
            found = {match.atom_id: match for match in hand.search("green tea hill", holding=tuple(analyse("tea")))}
            assert found == {each.id: every[each.id] for each in (both, tea)}
            assert hand.search("green tea hill", holding=tuple(analyse("harbour"))) == []

    def test_a_segment_is_found_by_the_turn_that_says_it(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            said = [render_passage(n, text, who, NOON) for n, text, who in ((1, "hello", "Ann"), (2, "zebra", "Bob"))]
            segment = hand.kept("\n\n".join(said), kind="narrative", session_id="s", segment_id="s-1")
            assert [(match.atom_id, match.n) for match in hand.search("zebra")] == [(segment.id, 2)]
            assert [match.n for match in hand.search("Ann")] == [1]

    def test_nothing_in_another_scope_moves_a_score(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            for n in range(6):
                hand.kept(f"tea number {n} " + "leaf " * n)
            before = hand.search("tea leaf number")
            for n in range(40):
                hand.kept(f"tea leaf number {n} " * 5, scope=random_scope(n))
            assert hand.search("tea leaf number") == before
            assert [m for m in hand.search("tea leaf number", LOCAL, ANN, limit=100) if m in before] == before

    def test_what_normal_recall_does_not_search_moves_no_score_either(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            hand.kept("green tea"), hand.kept("black tea and milk")
            before = hand.search("tea milk")
            for status in Status:
                if status not in (Status.ACTIVE, Status.ARCHIVED):
                    hand.kept("tea milk tea milk " * 3, status=status)
            assert hand.search("tea milk") == before

    def test_an_atom_is_found_with_its_status_only(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atoms = {status: hand.kept("tea", status=status) for status in Status}
            for status in Status:
                assert hand.found("tea", statuses=frozenset({status})) == [atoms[status].id]
            assert set(hand.found("tea")) == {atoms[Status.ACTIVE].id, atoms[Status.ARCHIVED].id}
            assert hand.found("tea", statuses=frozenset()) == []
            changed = hand.put(atoms[Status.ACTIVE].with_(status=Status.SUPERSEDED)).atoms[0]
            assert changed.id not in hand.found("tea")
            assert changed.id in hand.found("tea", statuses=frozenset({Status.SUPERSEDED}))

    def test_an_atom_is_found_by_its_sort_and_while_it_is_valid(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            rule, event = hand.kept("tea rule", kind="rule"), hand.kept("tea event", kind="event")
            assert hand.found("tea", memory_types=frozenset({MemoryType.PROCEDURE})) == [rule.id]
            assert hand.found("tea", memory_types=frozenset({MemoryType.NARRATIVE})) == [event.id]
            assert hand.found("tea", memory_types=frozenset()) == []
            now = hand.kept("coffee", valid_from=NOON, valid_until=NOON + DAY)
            assert hand.found("coffee", valid_at=NOON) == [now.id]
            assert hand.found("coffee", valid_at=NOON - timedelta(milliseconds=1)) == []
            assert hand.found("coffee", valid_at=NOON + DAY) == []

    def test_what_is_written_is_found_at_once_and_what_was_replaced_is_not(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atom = hand.kept("green zebra")
            hand.put(atom.with_(content="black panther"))
            assert hand.found("zebra green") == []
            assert hand.found("panther") == [atom.id]

    def test_ties_are_all_told_and_told_the_same_every_time(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            tied = {hand.kept("tea time", subject=str(n)).id for n in range(30)}
            first = hand.search("tea", limit=5)
            assert {match.atom_id for match in first} == tied
            assert len({match.score for match in first}) == 1
            hand.store.rebuild()
            assert hand.search("tea", limit=5) == first

    def test_filters_are_met_however_many_better_matches_they_leave_out(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            hand.put(*[hand.atom("tea tea", kind="rule", subject=str(n)) for n in range(700)])
            wanted = hand.put(*[hand.atom(f"tea once in a long text, number {n}") for n in range(5)]).atoms
            found = hand.found("tea", limit=5, memory_types=frozenset({MemoryType.FACT}))
            assert set(found) == {atom.id for atom in wanted}

    def test_a_query_of_hostile_tokens_is_only_a_query(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            hand.kept("or and not near tea")
            for words in ("OR", "AND NOT", "NEAR(tea 3)", '"tea" OR "', "tea*", "-tea", "tea:x", "'; DROP TABLE heads"):
                hand.search(words)
            assert hand.found("near") == [hand.read()[0].id]

    def test_who_rests_on_a_passage_is_told_whatever_became_of_them(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            words = hand.kept("said")
            first, other = Evidence(words.id, 1, 0, 4), Evidence(words.id, 2, 3, 9)
            one = hand.kept("one", evidence=(first, other))
            ended = hand.kept("ended", evidence=(first,), status=Status.SUPERSEDED)
            hand.kept("theirs", scope=ANN, evidence=(first,))
            resting = [Rest(each.id, words.id, 1, 0, 4) for each in sorted([one, ended], key=lambda each: each.id)]
            assert hand.store.resting([(words.id, 1)], [LOCAL]) == resting
            assert hand.store.resting([(words.id, 2), (words.id, 3)], [LOCAL]) == [Rest(one.id, words.id, 2, 3, 9)]
            hand.put(one.with_(evidence=(other,)))
            assert hand.store.resting([(words.id, 1)], [LOCAL]) == [Rest(ended.id, words.id, 1, 0, 4)]
            assert hand.store.resting([], [LOCAL]) == []

    def test_subjects_are_told_by_how_they_begin(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            hand.kept("a", subject="Garden Shed")
            hand.kept("b", subject="garage")
            hand.kept("c", subject="kitchen")
            hand.kept("d", scope=ANN, subject="gable")
            assert hand.store.subjects(LOCAL, ["garden"]) == ["garage", "garden shed"]
            assert hand.store.subjects(LOCAL, ["kit", "shed"]) == ["kitchen"]
            assert hand.store.subjects(LOCAL, []) == []

    def test_relations_are_edges_seen_from_both_ends_within_the_scopes(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            a, b, c = (hand.kept(name) for name in "abc")
            theirs = hand.kept("theirs", scope=ANN, relations=(Relation(RelationName.SUPPORTS, a.id),))
            a = hand.put(a.with_(relations=(Relation(RelationName.CAUSED_BY, b.id, 0.5),), supersedes=(c.id,))).atoms[0]
            caused, replaced = Edge(a.id, "caused_by", b.id, 0.5), Edge(a.id, "supersedes", c.id, 1.0)
            assert hand.store.edges([a.id], [LOCAL]) == [caused, replaced]
            assert hand.store.edges([b.id], [LOCAL]) == [caused]
            assert hand.store.edges([a.id], [OTHER]) == []
            assert Edge(theirs.id, "supports", a.id, 1.0) in hand.store.edges([a.id], [LOCAL, ANN])
            hand.put(a.with_(relations=(), supersedes=()))
            assert hand.store.edges([a.id, b.id, c.id], [LOCAL]) == []
            assert hand.store.edges([], [LOCAL]) == []

    def test_edges_can_be_limited_to_those_of_atoms_that_stand_so(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            past, now = hand.kept("past", subject="tea"), hand.kept("now", subject="tea")
            hand.put(past.with_(status=Status.SUPERSEDED)), hand.put(now.with_(supersedes=(past.id,)))
            told = {
                name: [edge.source for edge in hand.store.edges(["subject:tea", past.id], [LOCAL], statuses)]
                for name, statuses in {"all": None, "active": {Status.ACTIVE}, "none": set[Status]()}.items()
            }
            assert sorted(told["all"]) == sorted([past.id, now.id, now.id])
            assert (told["active"], told["none"]) == ([now.id, now.id], [])

    def test_all_relations_of_a_name_are_told_of_atoms_that_stand_so_within_the_scopes(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            a, b, c = (hand.kept(name) for name in "abc")
            against = Relation(RelationName.CONTRADICTS, a.id, 0.5)
            hand.put(b.with_(relations=(against, Relation(RelationName.SUPPORTS, c.id))))
            theirs = hand.kept("theirs", scope=ANN, relations=(against,))
            over = hand.put(c.with_(relations=(against,), status=Status.SUPERSEDED)).atoms[0]

            def told(*scopes: Scope, statuses: frozenset[Status] = frozenset({Status.ACTIVE})) -> list[Edge]:
                return hand.store.links(RelationName.CONTRADICTS, scopes, statuses)

            assert told(LOCAL) == [Edge(b.id, "contradicts", a.id, 0.5)]
            assert {each.source for each in told(LOCAL, ANN)} == {b.id, theirs.id}
            assert told(ANN) == told() == told(OTHER) == told(LOCAL, statuses=frozenset()) == []
            assert [each.source for each in told(LOCAL, statuses=frozenset({Status.SUPERSEDED}))] == [over.id]
            assert hand.store.links(RelationName.CAUSED_BY, [LOCAL], [Status.ACTIVE]) == []
            for target, found in ((a, 1), (b, 0)):
                told_of = hand.store.links(RelationName.CONTRADICTS, [LOCAL], [Status.ACTIVE], [target.id])
                assert len(told_of) == found

    def test_a_chain_of_what_took_its_place_is_followed_to_what_has_not_ended(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            first = hand.kept("first")
            second = hand.kept("second", supersedes=(first.id,))
            last = hand.kept("last", supersedes=(second.id,), status=Status.CHALLENGED)
            beside = hand.kept("beside", supersedes=(first.id,))
            theirs = hand.kept("theirs", supersedes=(second.id,), scope=ANN)
            ids = [each.id for each in (first, second, last)]
            assert hand.store.followed(ids, [LOCAL]) == {atom_id: [atom_id] for atom_id in ids}
            hand.put(first.with_(status=Status.SUPERSEDED)), hand.put(second.with_(status=Status.INVALIDATED))
            ends = {first.id: {last.id, beside.id}, second.id: {last.id}, last.id: {last.id}}
            assert {each: set(found) for each, found in hand.store.followed(ids, [LOCAL]).items()} == ends
            assert set(hand.store.followed([second.id], [LOCAL, ANN])[second.id]) == {last.id, theirs.id}
            assert hand.store.followed(ids, [OTHER]) == hand.store.followed([], [LOCAL]) == {}

    def test_a_rebuilt_index_answers_as_the_kept_one(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            random, words = Random(11), ["tea", "milk", "sugar", "honey", "lemon", "green", "black"]
            for _ in range(60):
                text = " ".join(random.choices(words, k=random.randint(1, 8)))
                atoms = hand.read()
                if atoms and random.random() < 0.5:
                    atom = random.choice(atoms)
                    new = Status(random.choice([*ARROWS[atom.status].split(), atom.status]))
                    hand.put(
                        atom.with_(content=text, status=new, relations=(Relation(RelationName.SUPPORTS, atoms[0].id),))
                    )
                else:
                    hand.kept(text)
            ids = [atom.id for atom in hand.read()]

            def answers() -> list[object]:
                found: list[object] = [hand.search(word, statuses=frozenset(Status), limit=50) for word in words]
                return [*found, hand.search("green tea", limit=3), hand.store.edges(ids, [LOCAL])]

            before = answers()
            assert hand.store.rebuild() == len(ids)
            assert answers() == before
            assert hand.store.check() == []

    def test_the_store_itself_writes_nothing_into_the_vault(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as hand:
            atom = hand.kept("tea")
            hand.put(atom.with_(status=Status.ARCHIVED))
            hand.store.rebuild()
        assert [path for path in tmp_path.rglob("*") if path.suffix == ".md"] == []


def random_scope(n: int) -> Scope:
    """A scope that is not the local one."""
    return (OTHER, ANN, BOB)[n % 3]
