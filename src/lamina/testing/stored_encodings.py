"""Contract of encodings: the vectors and states that models made of passages, and the search over them."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from random import Random

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.kinds import MemoryType
from lamina.atom.passage import passages_of, render_passage
from lamina.atom.scope import Scope
from lamina.atom.status import Status, TransitionCause
from lamina.store.encodings import PassageKey, ScoreTerms, TextEncoding
from lamina.testing.store_harness import ANN, BOB, DAY, LOCAL, NOON, OTHER, Contract, StoreHarness
from lamina.testing.vector_reference import (
    COSINE_TOLERANCE,
    MODEL,
    OTHER_MODEL,
    MillisecondWindow,
    brute_force_scores,
    encode_missing,
    make_states,
    make_vectors,
    nearest_passages,
    nearest_scores,
    question_vector,
    text_digests,
    vector_query,
)

WORDS = ("tea", "milk", "sugar", "honey", "lemon", "green", "black", "cup", "pot", "leaf")
SPEAKERS = ("Ann", "Bob", "assistant", None)


def commit_segment(
    harness: StoreHarness, *texts: str, session: str = "s", scope: Scope = LOCAL, speaker: str | None = "Ann"
) -> Atom:
    """Commit a segment with one turn for each text."""
    turns = [render_passage(n, text, speaker, harness.clock.now()) for n, text in enumerate(texts, 1)]
    return harness.add("\n\n".join(turns), kind="narrative", session_id=session, segment_id=f"{session}-1", scope=scope)


def missing_texts(harness: StoreHarness, model: str = MODEL) -> list[str]:
    """Return the texts that a model has not encoded."""
    return [each.text for each in harness.store.encodings.find_missing(model, 1000)]


def commit_random_atoms(harness: StoreHarness, random: Random, count: int) -> None:
    """Commit random facts, rules, events and sessions of every status, type, time and scope."""
    for n in range(count):
        text = " ".join(random.choices(WORDS, k=random.randint(1, 5)))
        scope, status = random.choice((LOCAL, LOCAL, ANN, OTHER)), random.choice((*Status, *[Status.ACTIVE] * 8))
        until = random.choice((None, None, NOON, NOON + DAY))
        start = random.choice((None, None, NOON - DAY, NOON + DAY / 2)) if until != NOON else NOON - DAY
        if n % 3:
            kind = random.choice(("fact", "rule", "event"))
            harness.add(
                text,
                scope=scope,
                status=status,
                kind=kind,
                subject=f"{n}",
                valid_from=start,
                valid_until=until,
                observed_at=NOON - n * DAY,
            )
        else:
            turns = [
                render_passage(m, f"{text} {m}", random.choice(SPEAKERS), NOON - (n + m) * DAY)
                for m in range(1, random.randint(2, 6))
            ]
            harness.add(
                "\n\n".join(turns),
                kind="narrative",
                session_id=f"s{n % 4}",
                segment_id=f"{n}",
                scope=scope,
                status=status,
            )


class EncodingContract(Contract):
    """What a store keeps of the work of models, and how it searches it."""

    def test_a_text_is_missing_until_a_model_has_encoded_it(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            encodings = harness.store.encodings
            assert (missing_texts(harness), encodings.count_by_model(), encodings.coverage(MODEL, [LOCAL])) == (
                [],
                {},
                (0, 0),
            )
            tea, talk = harness.add("is green", subject="tea"), commit_segment(harness, "hello", "zebra")
            harness.add("theirs", scope=OTHER)
            assert sorted(missing_texts(harness)) == ["hello", "tea: is green", "theirs", "zebra"]
            assert encodings.count_missing(MODEL) == 4
            assert len(encodings.find_missing(MODEL, 3)) == 3
            first = next(each for each in encodings.find_missing(MODEL, 9) if each.text == "zebra")
            encodings.put(MODEL, [TextEncoding(first.digest, make_vectors("zebra"), make_states("zebra"))])
            assert encodings.coverage(MODEL, [LOCAL]) == (1, 3)
            assert encodings.coverage(MODEL, [LOCAL, OTHER]) == (1, 4)
            assert encodings.coverage(MODEL, []) == (0, 0)
            assert sorted(missing_texts(harness)) == ["hello", "tea: is green", "theirs"]
            assert encode_missing(harness) == 3
            assert (missing_texts(harness), encodings.count_missing(MODEL)) == ([], 0)
            assert encodings.coverage(MODEL, [LOCAL]) == (3, 3)
            assert encodings.count_missing(OTHER_MODEL) == 4
            assert encodings.count_by_model() == {MODEL: 4}
            assert [first.digest] == text_digests(talk)[1:]
            assert first.digest not in text_digests(tea)

    def test_recallable_texts_are_missing_first(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            for n in range(5):
                harness.add(f"old {n}", status=Status.SUPERSEDED)
                harness.add(f"current {n}")
            assert all(text.startswith("current") for text in missing_texts(harness)[:5])
            assert {each.text for each in harness.store.encodings.find_missing(MODEL, 5)} == {
                f"current {n}" for n in range(5)
            }

    def test_an_assistant_turn_may_be_encoded_in_part_and_a_persons_equal_words_are_another_text(
        self, tmp_path: Path
    ) -> None:
        with self.open_harness(tmp_path) as harness:
            commit_segment(harness, "a long answer", speaker="assistant")
            commit_segment(harness, "a long answer", speaker="Ann", session="t")
            assert sorted(each.is_partial for each in harness.store.encodings.find_missing(MODEL, 9)) == [False, True]

    def test_encodings_of_unknown_texts_are_ignored(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            atom = harness.add("tea")
            (known,) = harness.store.encodings.find_missing(MODEL, 9)
            harness.commit(atom.with_(content="coffee"))
            harness.store.encodings.put(MODEL, [TextEncoding(known.digest, make_vectors("tea"), make_states("tea"))])
            harness.store.encodings.put(MODEL, [TextEncoding(b"0123456789abcdef", make_vectors("?"), make_states("?"))])
            harness.store.encodings.put(MODEL, [])
            assert harness.store.encodings.count_by_model() == {}
            assert missing_texts(harness) == ["coffee"]

    def test_equal_texts_share_one_encoding_which_is_removed_with_the_last_of_them(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            encodings = harness.store.encodings
            one, other, turns = (
                harness.add("tea"),
                harness.add("tea", scope=ANN),
                commit_segment(harness, "tea", "milk"),
            )
            assert encode_missing(harness) == 2
            assert encodings.coverage(MODEL, [LOCAL, ANN]) == (4, 4)
            assert len(nearest_passages(harness, "tea", LOCAL, ANN)) == 4
            text = text_digests(one)[0]
            harness.commit(one.with_(content="gone"))
            harness.commit(turns.with_(content=render_passage(1, "gone", "Ann", NOON)))
            assert encodings.states(MODEL, [text]) == {text: make_states("tea")}
            assert encodings.coverage(MODEL, [LOCAL, ANN]) == (1, 3)
            assert list(nearest_passages(harness, "tea", LOCAL, ANN)) == [(other.id, 1)]
            harness.commit(other.with_(content="gone"), scope=ANN)
            assert encodings.states(MODEL, [text]) == {}
            assert encodings.count_by_model() == {}
            assert nearest_passages(harness, "tea", LOCAL, ANN) == {}

    def test_a_text_that_was_removed_and_returns_is_encoded_again(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness, self.open_harness(tmp_path) as other:
            atom = harness.add("tea")
            encode_missing(harness)
            assert len(nearest_passages(harness, "tea")) == len(nearest_passages(other, "tea")) == 1
            atom = harness.commit(atom.with_(content="milk")).atoms[0]
            assert nearest_passages(harness, "tea") == {}
            harness.commit(atom.with_(content="tea"))
            for each in (harness, other):
                assert missing_texts(each) == ["tea"]
                assert each.store.encodings.coverage(MODEL, [LOCAL]) == (0, 1)
                assert nearest_passages(each, "tea") == {}
            encode_missing(other)
            assert nearest_scores(harness, "tea") == nearest_scores(other, "tea") != {}

    def test_dropping_a_model_forgets_all_it_made_and_nothing_else(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness, self.open_harness(tmp_path) as other:
            atom = harness.add("tea")
            encode_missing(harness), encode_missing(harness, OTHER_MODEL)
            assert harness.store.encodings.count_by_model() == {MODEL: 1, OTHER_MODEL: 1}
            assert len(nearest_passages(other, "tea")) == 1
            harness.store.encodings.drop_model(MODEL)
            for each in (harness, other):
                assert each.store.encodings.count_by_model() == {OTHER_MODEL: 1}
                assert each.store.encodings.states(MODEL, text_digests(atom)) == {}
                assert each.store.encodings.coverage(MODEL, [LOCAL]) == (0, 1)
                assert nearest_passages(each, "tea") == {}
                assert len(nearest_passages(each, "tea", model=OTHER_MODEL)) == 1
            assert encode_missing(other) == 1
            assert len(nearest_passages(harness, "tea")) == 1

    def test_the_nearest_passages_equal_those_of_a_brute_force_search(self, tmp_path: Path) -> None:
        random = Random(5)
        with self.open_harness(tmp_path) as harness:
            commit_random_atoms(harness, random, 120)
            encode_missing(harness)
            for n in range(40):
                question = " ".join(random.choices(WORDS, k=2))
                scopes = random.choice(((LOCAL,), (LOCAL, ANN), (ANN,), (LOCAL, ANN, OTHER), (BOB,)))
                first = int((NOON - random.randrange(100) * DAY).timestamp() * 1000)
                filters = {
                    "status_weights": {
                        each: random.choice((1.0, 0.5, 0.25)) for each in random.sample(list(Status), 4)
                    },
                    "memory_types": frozenset(random.sample(list(MemoryType), random.randint(1, len(MemoryType)))),
                    "valid_at": random.choice((NOON - DAY, NOON, NOON + DAY / 2, NOON + DAY, NOON + 9 * DAY)),
                    "vector_weight": random.choice((1.0, 0.5)),
                    "text_scores": {
                        (match.atom_id, match.n): match.score
                        for match in harness.search(question, *scopes, statuses=frozenset(Status), limit=9)
                    },
                    "text_weight": random.choice((0.0, 0.25)),
                    "terms": ScoreTerms({"Ann": 0.1, "assistant": -0.3}, MillisecondWindow(first, first + 10**10), 0.2),
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
                cut = sorted((each.score for each in whole.values()), reverse=True)[:limit]
                assert {key for key, each in whole.items() if cut and each.score > cut[-1]} <= best.keys(), n
                assert len(best) >= len(cut)
                assert all(each.score >= cut[-1] for each in best.values())

    def test_a_near_passage_has_its_speaker_time_and_status(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            turns = [render_passage(1, "tea?", "Ann", NOON - DAY), render_passage(2, "yes", None, None)]
            talk = harness.add("\n\n".join(turns), kind="narrative", session_id="s", segment_id="s-1", observed_at=NOON)
            fact = harness.add("black", subject="tea", scope=ANN, status=Status.ARCHIVED, observed_at=NOON - 2 * DAY)
            encode_missing(harness)
            span = MillisecondWindow(_ms(NOON - 3 * DAY), _ms(NOON))
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
            assert (third.origin, third.recorded_ms) == (fact.origin, _ms(NOON))
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
                assert len({each.score for key, each in first.items() if key != (best.id, 1)}) <= 1
                if len(first) == limit:
                    assert first.keys() - {(best.id, 1)} == {(each.id, 1) for each in tied[len(tied) - limit + 1 :]}
                harness.store.rebuild_index()
                assert (
                    nearest_passages(harness, "milk", limit=limit, text_scores=texts, text_weight=1.0).keys()
                    == first.keys()
                )

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
            assert nearest_passages(harness, "tea", model="nobody").keys() == set()
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
                key: each.position for key, each in nearest_passages(harness, "x", limit=1000).items() if key in order
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
                    assert len({each.session for each in matches.values()}) == 1
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
            assert sorted(each.position for each in matches.values()) == [0, 1, 2]
            matches = nearest_passages(harness, "two", limit=1, neighbours=1, status_weights=dict.fromkeys(Status, 1.0))
            assert matches.keys() == {(first.id, 1), (first.id, 2), (second.id, 1)}
            grown = f"{first.content}\n\n{render_passage(3, 'and more', 'Ann', NOON)}"
            harness.commit(first.with_(content=grown))
            assert nearest_passages(harness, "two", limit=1, neighbours=1).keys() == {
                (first.id, 1),
                (first.id, 2),
                (first.id, 3),
            }

    def test_writes_encodings_and_rebuilds_of_another_process_are_visible_immediately(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            atom = one.add("tea")
            encode_missing(other)
            assert nearest_scores(one, "tea") == nearest_scores(other, "tea") != {}
            more = other.add("milk")
            encode_missing(other)
            assert nearest_scores(one, "tea").keys() == {(atom.id, 1), (more.id, 1)}
            other.commit(atom.with_(content="gone"))
            assert nearest_scores(one, "tea").keys() == {(more.id, 1)}
            encode_missing(other)
            other.store.rebuild_index()
            assert nearest_scores(one, "tea") == nearest_scores(other, "tea")
            other.commit(more.with_(status=Status.TOMBSTONED))
            assert nearest_scores(one, "tea").keys() == nearest_scores(other, "tea").keys() == {(atom.id, 1)}

    def test_a_snapshot_contains_every_commit_made_before_it(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as one, self.open_harness(tmp_path) as other:
            kept = set[PassageKey]()
            for n in range(6):
                kept.add(((one, other)[n % 2].add(f"tea {n}").id, 1))
                with one.store.read_snapshot():
                    encode_missing(one)
                    assert nearest_passages(one, "tea").keys() == kept
                    assert set(one.find_ids("tea")) == {atom_id for atom_id, _ in kept}
                    assert nearest_scores(one, "tea") == nearest_scores(one, "tea")

    def test_status_changes_and_revisions_take_effect_immediately(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            atom, other = harness.add("tea"), harness.add("milk")
            encode_missing(harness)
            (full,) = (each.score for key, each in nearest_passages(harness, "tea").items() if key == (atom.id, 1))
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

    def test_encodings_survive_a_rebuild_and_every_change_except_of_their_text(self, tmp_path: Path) -> None:
        random = Random(8)
        with self.open_harness(tmp_path) as harness:
            commit_random_atoms(harness, random, 40)
            encode_missing(harness)
            for atom in harness.read():
                harness.commit(atom.with_(pinned=True, tags=("x",), importance=0.1))
            for atom in harness.read(statuses=frozenset({Status.ACTIVE})):
                harness.commit(
                    atom.with_(status=random.choice((Status.ARCHIVED, Status.CHALLENGED, Status.TOMBSTONED)))
                )
            assert missing_texts(harness) == []
            filters = {"limit": 1000, "neighbours": 2, "status_weights": dict.fromkeys(Status, 0.5)}
            before, models = (
                nearest_scores(harness, "tea", LOCAL, ANN, **filters),
                harness.store.encodings.count_by_model(),
            )
            harness.store.rebuild_index()
            assert (missing_texts(harness), harness.store.encodings.count_by_model()) == ([], models)
            assert nearest_scores(harness, "tea", LOCAL, ANN, **filters) == before
            assert harness.store.check() == []
        with self.open_harness(tmp_path) as again:
            assert nearest_scores(again, "tea", LOCAL, ANN, **filters) == before

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
            one.store.rebuild_index()
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
            before, spoke = nearest_scores(harness, "tea", **filters), harness.store.encodings.speakers([LOCAL])
            rarity = harness.store.encodings.token_statistics([LOCAL], ["tea", "said"])
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
            harness.store.rebuild_index()
            assert nearest_scores(harness, "tea", **filters) == before
            assert harness.store.encodings.speakers([LOCAL]) == spoke
            assert harness.store.encodings.token_statistics([LOCAL], ["tea", "said"]) == rarity

    def test_cosines_of_given_passages_equal_those_of_the_search(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            commit_random_atoms(harness, Random(10), 30)
            encode_missing(harness)
            fresh = harness.add("not encoded")
            matches = nearest_passages(harness, "tea milk", LOCAL, ANN, limit=1000)
            keys: list[PassageKey] = [*matches, (fresh.id, 1), (fresh.id, 2), (harness.new_atom().id, 1)]
            results = harness.store.encodings.cosines(MODEL, question_vector("tea milk"), keys)
            assert results == [each.cosine for each in matches.values()] + [0.0, 0.0, 0.0]
            assert harness.store.encodings.cosines(MODEL, question_vector("tea milk"), []) == []
            assert set(harness.store.encodings.cosines("nobody", question_vector("tea milk"), keys)) == {0.0}

    def test_the_vectors_of_atoms_are_returned_as_given(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            vectors = harness.store.encodings.vectors
            atoms = [harness.add(f"tea {'x' * (n % 3)}{n}", subject="pot" if n % 2 else "") for n in range(510)]
            talk, over = commit_segment(harness, "first", "second"), harness.add("over", status=Status.SUPERSEDED)
            encode_missing(harness)
            fresh = harness.add("not encoded")
            stored = vectors(MODEL, [fresh.id, *(each.id for each in (talk, over, *atoms)), harness.new_atom().id])
            assert set(stored) == {each.id for each in (talk, over, *atoms)}
            for each in (talk, over, *atoms):
                text = "first" if each is talk else f"pot: {each.content}" if each.subject else each.content
                assert stored[each.id].shape == make_vectors(text).shape
                assert abs(stored[each.id] - make_vectors(text)).max() <= COSINE_TOLERANCE
            assert vectors("nobody", [atoms[0].id]) == vectors(MODEL, []) == {}

    def test_token_states_are_returned_as_given(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            atoms = [harness.add(f"tea {n}") for n in range(1200)]
            encode_missing(harness)
            expected_digests = [text_digests(atom)[0] for atom in atoms]
            results = harness.store.encodings.states(
                MODEL, [*expected_digests, expected_digests[0], b"0123456789abcdef"]
            )
            assert results == {
                digest: make_states(atom.content) for digest, atom in zip(expected_digests, atoms, strict=True)
            }
            assert (
                harness.store.encodings.states("nobody", expected_digests)
                == harness.store.encodings.states(MODEL, [])
                == {}
            )

    def test_states_of_another_packing_are_used_until_replaced_and_vectors_stay(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness, self.open_harness(tmp_path) as other:
            encodings = harness.store.encodings
            atoms = [harness.add(f"tea {n}") for n in range(6)]
            encode_missing(harness, packing="coarse")
            before, expected_digests = nearest_scores(harness, "tea 3"), [text_digests(atom)[0] for atom in atoms]
            assert encodings.count_missing(MODEL, "coarse") == encodings.count_missing(MODEL) == 0
            assert encodings.count_missing(MODEL, "fine") == 6
            harness.add("fresh"), harness.add("old", status=Status.SUPERSEDED)
            unencoded = encodings.find_missing(MODEL, 9, packing="fine")
            assert [each.text for each in unencoded[:2]] == ["fresh", "old"]
            assert {each.digest for each in unencoded[2:]} == set(expected_digests)
            assert [each.text for each in encodings.find_missing(MODEL, 9)] == ["fresh", "old"]
            assert encodings.find_missing(MODEL, 9, [OTHER], "fine") == []
            repacked = unencoded[2:5]
            encodings.put(
                MODEL,
                [TextEncoding(each.digest, make_vectors("?"), make_states(each.text, "fine")) for each in repacked],
            )
            for each in (harness, other):
                results = each.store.encodings.states(MODEL, expected_digests)
                packed = {digest for digest, states in results.items() if states.packing == "fine"}
                assert packed == {each.digest for each in repacked}
                assert {digest: states.data for digest, states in results.items()} == {
                    digest: make_states(atom.content).data for digest, atom in zip(expected_digests, atoms, strict=True)
                }
                assert nearest_scores(each, "tea 3") == before
            assert encode_missing(other, packing="fine") == 5
            harness.store.rebuild_index()
            assert encodings.count_missing(MODEL, "fine") == 0
            assert encodings.count_missing(MODEL, "coarse") == 8
            assert encodings.count_by_model() == {MODEL: 8}

    def test_speakers_are_those_who_said_something_in_the_scopes(self, tmp_path: Path) -> None:
        with self.open_harness(tmp_path) as harness:
            speakers = harness.store.encodings.speakers
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
            assert harness.store.encodings.token_statistics([LOCAL, ANN, OTHER], ["tea", "milk", "nothing"]) == {
                LOCAL: (3, {"tea": 2, "milk": 1}),
                ANN: (1, {"tea": 1}),
            }
            assert harness.store.encodings.token_statistics([LOCAL], []) == {LOCAL: (3, {})}
            assert harness.store.encodings.token_statistics([], ["tea"]) == {}


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
