"""Contract of the search over passages: the nearest of each part, their neighbours, and what results may depend on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random

from lamina.atom.atom import AtomId
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.passage import passages_of, render_passage
from lamina.atom.provenance import Scope
from lamina.atom.status import Status, TransitionCause
from lamina.store.base import AtomFilter, TransactionMode
from lamina.store.encodings import PassageKey
from lamina.store.passages import Partition
from lamina.testing.store_harness import ANN, BOB, DAY, LOCAL, NOON, OTHER, Contract, StoreHarness
from lamina.testing.stored_encodings import WORDS, commit_random_atoms, commit_segment, missing_texts
from lamina.testing.vector_reference import (
    COSINE_TOLERANCE,
    MODEL,
    brute_force_cosines,
    encode_missing,
    nearest_cosines,
    nearest_passages,
    part_of,
    question_vector,
    text_digests,
    vector_query,
)
from lamina.text.time_windows import TimeWindows


class PassageSearchContract(Contract):
    """Tests of the passages that a query returns, and their cosines."""

    def test_the_nearest_passages_of_each_part_equal_those_of_a_brute_force_search(self, harness: StoreHarness) -> None:
        random = Random(5)
        commit_random_atoms(harness, random, 120)
        encode_missing(harness)
        for n in range(40):
            question = " ".join(random.choices(WORDS, k=2))
            scopes = random.choice(((LOCAL,), (LOCAL, ANN), (ANN,), (LOCAL, ANN, OTHER), (BOB,)))
            statuses = random.sample(list(Status), 4)
            filters = {
                "statuses": frozenset(statuses),
                "memory_types": frozenset(random.sample(list(MemoryType), random.randint(1, len(MemoryType)))),
                "layers": random.choice((None, frozenset(random.sample(list(Layer), 3)))),
                "valid_at": random.choice((NOON - DAY, NOON, NOON + DAY / 2, NOON + DAY, NOON + 9 * DAY)),
            }
            expected = brute_force_cosines(harness, question, vector_query(harness, question, *scopes, **filters))
            whole = nearest_passages(harness, question, *scopes, **filters, limit=10_000)
            assert whole.keys() == expected.keys()
            for key, passage in whole.items():
                assert abs(passage.cosine - expected[key]) < COSINE_TOLERANCE
                assert passage.scope in scopes
            first = NOON - random.randrange(100) * DAY
            partition = Partition(
                random.choice(((), (frozenset(statuses[:2]), frozenset(statuses[2:3])))),
                random.choice(((), (frozenset({"Ann"}), frozenset({"assistant", "no one"})))),
                random.choice((None, TimeWindows(((first, first + 115 * DAY),)))),
            )
            limit = random.randint(1, 12)
            best = nearest_passages(harness, question, *scopes, **filters, limit=limit, partition=partition)
            assert best == {key: whole[key] for key in best}
            for part in map(partial(part_of, partition), whole.values()):
                cosines = [near.cosine for near in whole.values() if part_of(partition, near) == part]
                cut = sorted(cosines, reverse=True)[:limit][-1]
                of_part = {key for key, near in whole.items() if part_of(partition, near) == part}
                assert {key for key in of_part if whole[key].cosine > cut} <= best.keys(), n
                assert len(of_part & best.keys()) >= min(limit, len(of_part))
                assert all(whole[key].cosine >= cut for key in of_part & best.keys())

    def test_a_near_passage_has_its_speaker_time_and_status(self, harness: StoreHarness) -> None:
        turns = [render_passage(1, "tea?", "Ann", NOON - DAY), render_passage(2, "yes", None, None)]
        talk = harness.add("\n\n".join(turns), kind="narrative", session_id="s", segment_id="s-1", observed_at=NOON)
        fact = harness.add("black on 2 May 2020", scope=ANN, status=Status.ARCHIVED, observed_at=NOON - 2 * DAY)
        encode_missing(harness)
        matches = nearest_passages(harness, "tea", LOCAL, ANN)
        assert matches.keys() == {(talk.id, 1), (talk.id, 2), (fact.id, 1)}
        first, second, third = matches[talk.id, 1], matches[talk.id, 2], matches[fact.id, 1]
        assert (first.speaker, first.at_ms, first.is_question) == ("Ann", _ms(NOON - DAY), True)
        assert (second.speaker, second.at_ms, second.is_question) == ("", _ms(NOON), False)
        assert (third.speaker, third.at_ms) == ("", _ms(NOON - 2 * DAY))
        assert (first.mentioned_ms, third.mentioned_ms) == (None, _ms(datetime(2020, 5, 2, 12, tzinfo=UTC)))
        assert (third.scope, third.status, third.layer) == (ANN, Status.ARCHIVED, fact.layer)
        assert fact.recorded_at is not None
        assert (third.origin, third.recorded_ms) == (fact.origin, _ms(fact.recorded_at))
        assert [first.digest, second.digest, third.digest] == text_digests(talk) + text_digests(fact)
        assert first.session == second.session != third.session
        assert second.position == first.position + 1

    def test_ties_are_all_returned_or_the_newest_of_them_deterministically(self, harness: StoreHarness) -> None:
        best = harness.add("tea")
        tied = []
        for n in range(30):
            harness.clock.at = NOON + n * DAY
            tied.append(harness.add("milk", valid_from=NOON + n * DAY))
        encode_missing(harness)
        for limit in (1, 3, 20, 31):
            first = nearest_passages(harness, "milk", limit=limit, keys=[(best.id, 1)])
            assert (best.id, 1) in first
            of_milk = first.keys() - {(best.id, 1)}
            assert len({first[key].cosine for key in of_milk}) == 1
            expected = tied if limit > 14 else tied[-limit:]
            assert of_milk == {(atom.id, 1) for atom in expected}
            harness.store.admin.rebuild_index()
            assert nearest_passages(harness, "milk", limit=limit, keys=[(best.id, 1)]).keys() == first.keys()

    def test_what_an_agent_learnt_is_searched_alone_by_words_vectors_and_fields(self, harness: StoreHarness) -> None:
        shared = harness.add("tea of all")
        for_ann = harness.add("tea for ann", agents=("bob", "Ann"))
        private = harness.add("tea of ann", scope=ANN)
        others = [harness.add("tea for bob", agents=("bob",)), harness.add("tea of bob", scope=BOB)]
        encode_missing(harness)
        for _ in range(2):
            learnt = {for_ann.id, private.id}
            assert {key[0] for key in nearest_passages(harness, "tea", LOCAL, ANN, agent="ann")} == learnt
            assert {match.atom_id for match in harness.search("tea", LOCAL, ANN, agent="ann")} == learnt
            read = harness.store.atoms.read(AtomFilter(scopes=(LOCAL, ANN), agent="ann"))
            assert {atom.id for atom in read} == learnt
            assert {key[0] for key in nearest_passages(harness, "tea", LOCAL, ANN)} == learnt | {
                shared.id,
                others[0].id,
            }
            # "an" is the beginning of a name and no name.
            assert nearest_passages(harness, "tea", LOCAL, ANN, BOB, agent="an") == {}
            assert harness.search("tea", LOCAL, ANN, BOB, agent="an") == []
            query = vector_query(harness, "tea", LOCAL, ANN, agent="ann")
            counted = harness.store.passages.count_filtered_out(query, -1.0)
            assert counted == {"not learnt by this agent": 2}
            harness.store.admin.rebuild_index()

    def test_a_passage_without_a_vector_is_returned_only_if_it_is_named(self, harness: StoreHarness) -> None:
        seen = harness.add("tea")
        encode_missing(harness)
        fresh = harness.add("fresh")
        assert nearest_passages(harness, "tea").keys() == {(seen.id, 1)}
        matches = nearest_cosines(harness, "tea", keys=[(fresh.id, 1), (fresh.id, 2), (seen.id, 1)])
        assert matches.keys() == {(seen.id, 1), (fresh.id, 1)} and matches[fresh.id, 1] == 0.0
        assert nearest_passages(harness, "tea", model="unknown").keys() == set()
        assert nearest_passages(harness, "tea", limit=0) == {}

    def test_named_passages_are_returned_if_they_pass_the_filters(self, harness: StoreHarness) -> None:
        atoms = [harness.add(f"tea {n}") for n in range(20)]
        theirs, past = harness.add("theirs", scope=ANN), harness.add("past", status=Status.SUPERSEDED)
        encode_missing(harness)
        everything = nearest_cosines(harness, "tea 3", limit=100)
        (best,) = nearest_passages(harness, "tea 3", limit=1)
        keys: list[PassageKey] = [(atoms[7].id, 1), (atoms[8].id, 1), (atoms[8].id, 2), (theirs.id, 1), (past.id, 1)]
        matches = nearest_cosines(harness, "tea 3", limit=1, keys=keys)
        assert matches.keys() == {best, *keys[:2]}
        assert matches == {key: everything[key] for key in matches}

    def test_neighbours_of_passages_are_those_of_their_session_and_scope(self, harness: StoreHarness) -> None:
        parts = []
        for n in range(3):
            harness.clock.at = NOON + timedelta(minutes=n)
            parts.append(commit_segment(harness, *[f"part {n} turn {m}" for m in range(4)]))
            commit_segment(harness, *[f"elsewhere {n} {m}" for m in range(4)], session="other")
            commit_segment(harness, *[f"private {n} {m}" for m in range(4)], scope=ANN)
            harness.add(f"a fact {n}", session_id="s")
        encode_missing(harness)
        order = [(part.id, passage.n) for part in parts for passage in passages_of(part)]
        assert len(order) == 12
        places = {
            key: near.position for key, near in nearest_passages(harness, "x", limit=1000).items() if key in order
        }
        assert sorted(order, key=places.__getitem__) == order
        assert [places[key] - places[order[0]] for key in order] == list(range(12))
        for reach in (1, 2, 5):
            for place in (0, 3, 4, 11):
                around = {"limit": 0, "neighbours_of": [order[place]], "reach": reach}
                matches = nearest_passages(harness, "x", LOCAL, ANN, **around)
                assert matches.keys() == set(order[max(0, place - reach) : place + reach + 1]) - {order[place]}
                assert len({near.session for near in matches.values()}) == 1
        (fact,) = nearest_passages(harness, "a fact 1", limit=1)
        assert nearest_passages(harness, "a fact 1", limit=0, neighbours_of=[fact], reach=3) == {}

    def test_neighbours_are_right_after_a_session_grows_or_loses_a_part(self, harness: StoreHarness) -> None:
        first = commit_segment(harness, "one", "two")
        around = {"limit": 0, "keys": [(first.id, 2)], "neighbours_of": [(first.id, 2)]}
        encode_missing(harness)
        assert nearest_passages(harness, "two", **around).keys() == {(first.id, 1), (first.id, 2)}
        harness.clock.at += timedelta(minutes=1)
        second = commit_segment(harness, "three")
        encode_missing(harness)
        assert nearest_passages(harness, "two", **around).keys() == {(first.id, 1), (first.id, 2), (second.id, 1)}
        harness.clock.at += timedelta(minutes=1)
        third = commit_segment(harness, "four")
        encode_missing(harness)
        harness.commit(second.with_(status=Status.TOMBSTONED))
        matches = nearest_passages(harness, "two", **around)
        assert matches.keys() == {(first.id, 1), (first.id, 2), (third.id, 1)}
        assert sorted(near.position for near in matches.values()) == [0, 1, 2]
        matches = nearest_passages(harness, "two", **around, statuses=frozenset(Status))
        assert matches.keys() == {(first.id, 1), (first.id, 2), (second.id, 1)}
        grown = f"{first.content}\n\n{render_passage(3, 'and more', 'Ann', NOON)}"
        harness.commit(first.with_(content=grown))
        assert nearest_passages(harness, "two", **around).keys() == {(first.id, 1), (first.id, 2), (first.id, 3)}

    def test_a_snapshot_contains_every_commit_made_before_it(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            kept = set[PassageKey]()
            for n in range(6):
                kept.add(((one, other)[n % 2].add(f"tea {n}").id, 1))
                with one.store.transaction(TransactionMode.SNAPSHOT):
                    encode_missing(one)
                    assert nearest_passages(one, "tea").keys() == kept
                    assert set(one.find_ids("tea")) == {atom_id for atom_id, _ in kept}
                    assert nearest_cosines(one, "tea") == nearest_cosines(one, "tea")

    def test_status_changes_and_revisions_take_effect_immediately(self, harness: StoreHarness) -> None:
        atom, other = harness.add("tea"), harness.add("milk")
        encode_missing(harness)
        assert nearest_passages(harness, "tea")[atom.id, 1].status is Status.ACTIVE
        atom = harness.commit(atom.with_(status=Status.ARCHIVED)).atoms[0]
        assert nearest_passages(harness, "tea")[atom.id, 1].status is Status.ARCHIVED
        atom = harness.commit(atom.with_(status=Status.TOMBSTONED)).atoms[0]
        assert nearest_passages(harness, "tea").keys() == {(other.id, 1)}
        assert (atom.id, 1) in nearest_passages(harness, "tea", statuses=frozenset({Status.TOMBSTONED}))
        atom = harness.commit(atom.with_(status=Status.ACTIVE), way=TransitionCause.RESTORE).atoms[0]
        assert nearest_passages(harness, "tea")[atom.id, 1].status is Status.ACTIVE
        assert missing_texts(harness) == []
        atom = harness.commit(atom.with_(content="coffee")).atoms[0]
        assert nearest_passages(harness, "tea").keys() == {(other.id, 1)}
        encode_missing(harness)
        assert nearest_passages(harness, "coffee")[atom.id, 1].cosine > 1 - COSINE_TOLERANCE

    def test_scopes_and_atoms_stay_separate_after_a_rebuild(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            mine, more, theirs = one.new_atom("mine"), one.new_atom("more of mine"), one.new_atom("theirs", scope=ANN)
            more, theirs = more.with_(id=AtomId("1" + more.id[1:])), theirs.with_(id=AtomId("2" + theirs.id[1:]))
            for atom in (theirs, more, mine):
                one.commit(atom, scope=atom.scope)
                assert nearest_passages(one, "x") == {}
            encode_missing(one)
            assert (
                nearest_passages(one, "x").keys() == nearest_passages(other, "x").keys() == {(mine.id, 1), (more.id, 1)}
            )
            one.store.admin.rebuild_index()
            one.commit(one.current(more).with_(pinned=True))
            for harness in (one, other):
                assert nearest_passages(harness, "x").keys() == {(mine.id, 1), (more.id, 1)}
                assert nearest_passages(harness, "x", ANN).keys() == {(theirs.id, 1)}
            one.commit(one.current(more).with_(status=Status.TOMBSTONED))
            for harness in (one, other):
                assert nearest_passages(harness, "x").keys() == {(mine.id, 1)}

    def test_nothing_in_another_scope_changes_a_vector_score(self, harness: StoreHarness) -> None:
        random = Random(9)
        for n in range(12):
            harness.add(f"tea number {n}")
        commit_segment(harness, "tea said", "milk said", "sugar said")
        encode_missing(harness)
        filters = {"limit": 5, "partition": Partition(speakers=(frozenset({"Ann"}), frozenset({"Bob"})))}
        before = nearest_cosines(harness, "tea", **filters)
        statistics = harness.store.passages.statistics([LOCAL], tokens=["tea", "said"])
        theirs = []
        for n in range(40):
            scope = random.choice((ANN, BOB, OTHER))
            text = random.choice(("tea number 3", f"tea tea {n}", "tea said"))
            theirs.append(
                harness.add(text, scope=scope) if n % 2 else commit_segment(harness, text, scope=scope, speaker="Eve")
            )
            if n % 8 == 0:
                encode_missing(harness)
            assert nearest_cosines(harness, "tea", **filters) == before
        for atom in theirs:
            harness.commit(harness.current(atom).with_(content="gone", status=Status.TOMBSTONED), scope=atom.scope)
        assert nearest_cosines(harness, "tea", **filters) == before
        harness.store.admin.rebuild_index()
        assert nearest_cosines(harness, "tea", **filters) == before
        assert harness.store.passages.statistics([LOCAL], tokens=["tea", "said"]) == statistics

    def test_cosines_of_given_passages_equal_those_of_the_search(self, harness: StoreHarness) -> None:
        commit_random_atoms(harness, Random(10), 30)
        encode_missing(harness)
        fresh = harness.add("not encoded")
        matches = nearest_passages(harness, "tea milk", LOCAL, ANN, limit=1000)
        keys: list[PassageKey] = [*matches, (fresh.id, 1), (fresh.id, 2), (harness.new_atom().id, 1)]
        results = harness.store.passages.cosines(MODEL, question_vector("tea milk"), keys)
        assert results == [near.cosine for near in matches.values()] + [0.0, 0.0, 0.0]
        assert harness.store.passages.cosines(MODEL, question_vector("tea milk"), []) == []
        assert set(harness.store.passages.cosines("unknown", question_vector("tea milk"), keys)) == {0.0}

    def test_speakers_are_those_who_said_something_in_the_scopes(self, harness: StoreHarness) -> None:

        def speakers(scopes: Sequence[Scope]) -> frozenset[str]:
            return harness.store.passages.statistics(scopes).speakers

        assert speakers([LOCAL]) == frozenset()
        talk = commit_segment(harness, "hello", speaker="Ann")
        commit_segment(harness, "hello", speaker="Bob", scope=ANN)
        harness.add("a fact")
        commit_segment(harness, "a paragraph", speaker=None, session="t")
        assert speakers([LOCAL]) == {"Ann"}
        assert speakers([LOCAL, ANN]) == {"Ann", "Bob"}
        assert speakers([OTHER]) == speakers([]) == frozenset()
        talk = harness.commit(talk.with_(content=render_passage(1, "hello", "Eve", NOON))).atoms[0]
        assert speakers([LOCAL]) == {"Eve"}
        talk = harness.commit(talk.with_(status=Status.ARCHIVED)).atoms[0]
        assert speakers([LOCAL]) == {"Eve"}
        harness.commit(talk.with_(status=Status.TOMBSTONED))
        assert speakers([LOCAL]) == frozenset()

    def test_rarity_is_counted_scope_by_scope_over_what_recall_searches(self, harness: StoreHarness) -> None:
        harness.add("green tea"), harness.add("black tea"), harness.add("milk")
        harness.add("tea tea tea", scope=ANN)
        harness.add("tea then", status=Status.SUPERSEDED)
        assert harness.store.passages.statistics([LOCAL, ANN, OTHER], tokens=["tea", "milk", "nothing"]).tokens == {
            LOCAL: (3, {"tea": 2, "milk": 1}),
            ANN: (1, {"tea": 1}),
        }
        assert harness.store.passages.statistics([LOCAL], tokens=[]).tokens == {LOCAL: (3, {})}
        assert harness.store.passages.statistics([], tokens=["tea"]).tokens == {}


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
