"""Contract of the search over passages: the nearest of them, their neighbours, and what a score may depend on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from random import Random

from lamina.atom.atom import AtomId
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.passage import passages_of, render_passage
from lamina.atom.provenance import Scope
from lamina.atom.status import Status, TransitionCause
from lamina.store.base import AtomFilter, TransactionMode
from lamina.store.encodings import PassageKey, ScoreTerms
from lamina.testing.store_harness import ANN, BOB, DAY, LOCAL, NOON, OTHER, Contract
from lamina.testing.stored_encodings import WORDS, commit_random_atoms, commit_segment, missing_texts
from lamina.testing.vector_reference import (
    COSINE_TOLERANCE,
    MODEL,
    brute_force_scores,
    encode_missing,
    nearest_passages,
    nearest_scores,
    question_vector,
    text_digests,
    vector_query,
)
from lamina.text.time_windows import TimeWindows


class PassageSearchContract(Contract):
    """Tests of the passages that a query returns, and their scores."""

    def test_the_nearest_passages_equal_those_of_a_brute_force_search(self, tmp_path: Path) -> None:
        random = Random(5)
        with self.open_harness(tmp_path) as harness:
            commit_random_atoms(harness, random, 120)
            encode_missing(harness)
            for n in range(40):
                question = " ".join(random.choices(WORDS, k=2))
                scopes = random.choice(((LOCAL,), (LOCAL, ANN), (ANN,), (LOCAL, ANN, OTHER), (BOB,)))
                first = NOON - random.randrange(100) * DAY
                window = TimeWindows(((first, first + 115 * DAY),))
                filters = {
                    "status_weights": {
                        status: random.choice((1.0, 0.5, 0.25)) for status in random.sample(list(Status), 4)
                    },
                    "memory_types": frozenset(random.sample(list(MemoryType), random.randint(1, len(MemoryType)))),
                    "layers": random.choice((None, frozenset(random.sample(list(Layer), 3)))),
                    "valid_at": random.choice((NOON - DAY, NOON, NOON + DAY / 2, NOON + DAY, NOON + 9 * DAY)),
                    "vector_weight": random.choice((1.0, 0.5)),
                    "text_scores": {
                        (match.atom_id, match.n): match.score
                        for match in harness.search(question, *scopes, statuses=frozenset(Status), limit=9)
                    },
                    "text_weight": random.choice((0.0, 0.25)),
                    "terms": ScoreTerms({"Ann": 0.1, "assistant": -0.3}, window, 0.2),
                }
                expected = brute_force_scores(harness, question, vector_query(harness, question, *scopes, **filters))
                whole = nearest_passages(harness, question, *scopes, **filters, limit=10_000)
                assert whole.keys() == expected.keys()
                for key, passage in whole.items():
                    assert abs(passage.cosine - expected[key][0]) < COSINE_TOLERANCE
                    assert abs(passage.score - expected[key][1]) < COSINE_TOLERANCE
                    assert passage.scope in scopes
                limit = random.randint(1, 20)
                best = nearest_passages(harness, question, *scopes, **filters, limit=limit)
                assert best == {key: whole[key] for key in best}
                cut = sorted((near.score for near in whole.values()), reverse=True)[:limit]
                assert {key for key, near in whole.items() if cut and near.score > cut[-1]} <= best.keys(), n
                assert len(best) >= len(cut)
                assert all(near.score >= cut[-1] for near in best.values())

    def test_a_near_passage_has_its_speaker_time_and_status(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            turns = [render_passage(1, "tea?", "Ann", NOON - DAY), render_passage(2, "yes", None, None)]
            talk = harness.add("\n\n".join(turns), kind="narrative", session_id="s", segment_id="s-1", observed_at=NOON)
            fact = harness.add("black", subject="tea", scope=ANN, status=Status.ARCHIVED, observed_at=NOON - 2 * DAY)
            encode_missing(harness)
            midnight = NOON - DAY / 2
            span = TimeWindows(((midnight - 3 * DAY, midnight),))
            matches = nearest_passages(harness, "tea", LOCAL, ANN, terms=ScoreTerms({}, span, 0.5))
            assert matches.keys() == {(talk.id, 1), (talk.id, 2), (fact.id, 1)}
            first, second, third = matches[talk.id, 1], matches[talk.id, 2], matches[fact.id, 1]
            assert (first.speaker, first.at_ms, first.is_question, first.in_window) == (
                "Ann",
                _ms(NOON - DAY),
                True,
                True,
            )
            assert (second.speaker, second.at_ms, second.is_question, second.in_window) == ("", _ms(NOON), False, False)
            assert (third.speaker, third.at_ms, third.in_window) == ("", _ms(NOON - 2 * DAY), True)
            assert (third.scope, third.status, third.layer) == (ANN, Status.ARCHIVED, fact.layer)
            assert fact.recorded_at is not None
            assert (third.origin, third.recorded_ms) == (fact.origin, _ms(fact.recorded_at))
            assert [first.digest, second.digest, third.digest] == text_digests(talk) + text_digests(fact)
            assert first.session == second.session != third.session
            assert second.position == first.position + 1

    def test_ties_are_all_returned_or_the_newest_of_them_deterministically(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            best = harness.add("tea")
            tied = []
            for n in range(30):
                harness.clock.at = NOON + n * DAY
                tied.append(harness.add("milk", valid_from=NOON + n * DAY))
            encode_missing(harness)
            texts = {(best.id, 1): 10.0}
            for limit in (1, 3, 20, 31):
                first = nearest_passages(harness, "milk", limit=limit, text_scores=texts, text_weight=1.0)
                assert (best.id, 1) in first
                assert len(first) >= limit
                assert len({near.score for key, near in first.items() if key != (best.id, 1)}) <= 1
                if len(first) == limit:
                    assert first.keys() - {(best.id, 1)} == {(atom.id, 1) for atom in tied[len(tied) - limit + 1 :]}
                harness.store.admin.rebuild_index()
                assert (
                    nearest_passages(harness, "milk", limit=limit, text_scores=texts, text_weight=1.0).keys()
                    == first.keys()
                )

    def test_what_an_agent_learnt_is_searched_alone_by_words_vectors_and_fields(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
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

    def test_a_passage_without_a_vector_is_scored_by_its_words_alone(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            seen = harness.add("tea")
            encode_missing(harness)
            fresh, silent = harness.add("fresh"), harness.add("silent")
            assert nearest_passages(harness, "tea").keys() == {(seen.id, 1)}
            matches = nearest_passages(
                harness, "tea", text_scores={(fresh.id, 1): 2.0, (silent.id, 2): 9.0}, text_weight=0.25
            )
            assert matches.keys() == {(seen.id, 1), (fresh.id, 1)}
            assert (matches[fresh.id, 1].cosine, matches[fresh.id, 1].score) == (0.0, 0.5)
            assert nearest_passages(harness, "tea", extra_keys=[(silent.id, 1)])[silent.id, 1].cosine == 0.0
            assert nearest_passages(harness, "tea", model="unknown").keys() == set()
            assert nearest_passages(harness, "tea", limit=0) == {}

    def test_additional_passages_are_returned_if_they_pass_the_filters(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            atoms = [harness.add(f"tea {n}") for n in range(20)]
            theirs, past = harness.add("theirs", scope=ANN), harness.add("past", status=Status.SUPERSEDED)
            encode_missing(harness)
            everything = nearest_scores(harness, "tea 3", limit=100)
            (best,) = nearest_passages(harness, "tea 3", limit=1)
            extra_keys: list[PassageKey] = [
                (atoms[7].id, 1),
                (atoms[8].id, 1),
                (atoms[8].id, 2),
                (theirs.id, 1),
                (past.id, 1),
            ]
            matches = nearest_scores(harness, "tea 3", limit=1, extra_keys=extra_keys)
            assert matches.keys() == {best, *extra_keys[:2]}
            assert matches == {key: everything[key] for key in matches}

    def test_neighbours_of_the_best_are_returned_within_their_session_and_scope_only(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
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
                for place, text in (
                    (0, "part 0 turn 0"),
                    (3, "part 0 turn 3"),
                    (4, "part 1 turn 0"),
                    (11, "part 2 turn 3"),
                ):
                    assert next(iter(nearest_passages(harness, text, LOCAL, ANN))) == order[place]
                    matches = nearest_passages(harness, text, LOCAL, ANN, limit=1, neighbours=reach)
                    assert matches.keys() == set(order[max(0, place - reach) : place + reach + 1])
                    assert len({near.session for near in matches.values()}) == 1
            assert (
                nearest_passages(harness, "a fact 1", limit=1, neighbours=3).keys()
                == nearest_passages(harness, "a fact 1", limit=1).keys()
            )

    def test_neighbours_are_right_after_a_session_grows_or_loses_a_part(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            first = commit_segment(harness, "one", "two")
            encode_missing(harness)
            assert nearest_passages(harness, "two", limit=1, neighbours=1).keys() == {(first.id, 1), (first.id, 2)}
            harness.clock.at += timedelta(minutes=1)
            second = commit_segment(harness, "three")
            encode_missing(harness)
            assert nearest_passages(harness, "two", limit=1, neighbours=1).keys() == {
                (first.id, 1),
                (first.id, 2),
                (second.id, 1),
            }
            harness.clock.at += timedelta(minutes=1)
            third = commit_segment(harness, "four")
            encode_missing(harness)
            harness.commit(second.with_(status=Status.TOMBSTONED))
            matches = nearest_passages(harness, "two", limit=1, neighbours=1)
            assert matches.keys() == {(first.id, 1), (first.id, 2), (third.id, 1)}
            assert sorted(near.position for near in matches.values()) == [0, 1, 2]
            matches = nearest_passages(harness, "two", limit=1, neighbours=1, status_weights=dict.fromkeys(Status, 1.0))
            assert matches.keys() == {(first.id, 1), (first.id, 2), (second.id, 1)}
            grown = f"{first.content}\n\n{render_passage(3, 'and more', 'Ann', NOON)}"
            harness.commit(first.with_(content=grown))
            assert nearest_passages(harness, "two", limit=1, neighbours=1).keys() == {
                (first.id, 1),
                (first.id, 2),
                (first.id, 3),
            }

    def test_a_snapshot_contains_every_commit_made_before_it(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            kept = set[PassageKey]()
            for n in range(6):
                kept.add(((one, other)[n % 2].add(f"tea {n}").id, 1))
                with one.store.transaction(TransactionMode.SNAPSHOT):
                    encode_missing(one)
                    assert nearest_passages(one, "tea").keys() == kept
                    assert set(one.find_ids("tea")) == {atom_id for atom_id, _ in kept}
                    assert nearest_scores(one, "tea") == nearest_scores(one, "tea")

    def test_status_changes_and_revisions_take_effect_immediately(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            atom, other = harness.add("tea"), harness.add("milk")
            encode_missing(harness)
            (full,) = (near.score for key, near in nearest_passages(harness, "tea").items() if key == (atom.id, 1))
            atom = harness.commit(atom.with_(status=Status.ARCHIVED)).atoms[0]
            halved = nearest_passages(harness, "tea")[atom.id, 1]
            assert (halved.status, halved.score) == (Status.ARCHIVED, full / 2)
            atom = harness.commit(atom.with_(status=Status.TOMBSTONED)).atoms[0]
            assert nearest_passages(harness, "tea").keys() == {(other.id, 1)}
            assert (atom.id, 1) in nearest_passages(harness, "tea", status_weights={Status.TOMBSTONED: 1.0})
            atom = harness.commit(atom.with_(status=Status.ACTIVE), way=TransitionCause.RESTORE).atoms[0]
            assert nearest_passages(harness, "tea")[atom.id, 1].score == full
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

    def test_nothing_in_another_scope_changes_a_vector_score(self, tmp_path: Path) -> None:
        random = Random(9)
        with self.open_harness(tmp_path) as harness:
            for n in range(12):
                harness.add(f"tea number {n}")
            commit_segment(harness, "tea said", "milk said", "sugar said")
            encode_missing(harness)
            filters = {"limit": 5, "neighbours": 1, "terms": ScoreTerms({"Ann": 0.25, "Bob": 0.5})}
            before, spoke = nearest_scores(harness, "tea", **filters), harness.store.passages.summary([LOCAL])
            rarity = harness.store.passages.token_statistics([LOCAL], ["tea", "said"])
            theirs = []
            for n in range(40):
                scope = random.choice((ANN, BOB, OTHER))
                text = random.choice(("tea number 3", f"tea tea {n}", "tea said"))
                theirs.append(
                    harness.add(text, scope=scope)
                    if n % 2
                    else commit_segment(harness, text, scope=scope, speaker="Eve")
                )
                if n % 8 == 0:
                    encode_missing(harness)
                assert nearest_scores(harness, "tea", **filters) == before
            for atom in theirs:
                harness.commit(harness.current(atom).with_(content="gone", status=Status.TOMBSTONED), scope=atom.scope)
            assert nearest_scores(harness, "tea", **filters) == before
            harness.store.admin.rebuild_index()
            assert nearest_scores(harness, "tea", **filters) == before
            assert harness.store.passages.summary([LOCAL]) == spoke
            assert harness.store.passages.token_statistics([LOCAL], ["tea", "said"]) == rarity

    def test_cosines_of_given_passages_equal_those_of_the_search(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            commit_random_atoms(harness, Random(10), 30)
            encode_missing(harness)
            fresh = harness.add("not encoded")
            matches = nearest_passages(harness, "tea milk", LOCAL, ANN, limit=1000)
            keys: list[PassageKey] = [*matches, (fresh.id, 1), (fresh.id, 2), (harness.new_atom().id, 1)]
            results = harness.store.passages.cosines(MODEL, question_vector("tea milk"), keys)
            assert results == [near.cosine for near in matches.values()] + [0.0, 0.0, 0.0]
            assert harness.store.passages.cosines(MODEL, question_vector("tea milk"), []) == []
            assert set(harness.store.passages.cosines("unknown", question_vector("tea milk"), keys)) == {0.0}

    def test_speakers_are_those_who_said_something_in_the_scopes(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:

            def speakers(scopes: Sequence[Scope]) -> frozenset[str]:
                return harness.store.passages.summary(scopes).speakers

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

    def test_rarity_is_counted_scope_by_scope_over_what_recall_searches(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            harness.add("green tea"), harness.add("black tea"), harness.add("milk")
            harness.add("tea tea tea", scope=ANN)
            harness.add("tea then", status=Status.SUPERSEDED)
            assert harness.store.passages.token_statistics([LOCAL, ANN, OTHER], ["tea", "milk", "nothing"]) == {
                LOCAL: (3, {"tea": 2, "milk": 1}),
                ANN: (1, {"tea": 1}),
            }
            assert harness.store.passages.token_statistics([LOCAL], []) == {LOCAL: (3, {})}
            assert harness.store.passages.token_statistics([], ["tea"]) == {}


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
