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
from lamina.atom.status import Status, Way
from lamina.store.encodings import Encoding, Key, Tilts
from lamina.testing.hand import ANN, BOB, DAY, LOCAL, NOON, OTHER, Contract, Hand
from lamina.testing.nearness import (
    CLOSE,
    MODEL,
    OTHER_MODEL,
    Span,
    asked,
    by_hand,
    digests,
    encode,
    near,
    query,
    scores,
    states_of,
    vectors_of,
)

WORDS = ("tea", "milk", "sugar", "honey", "lemon", "green", "black", "cup", "pot", "leaf")
SAID = ("Ann", "Bob", "assistant", None)


def segment(hand: Hand, *said: str, session: str = "s", scope: Scope = LOCAL, speaker: str | None = "Ann") -> Atom:
    """Commit a segment with one turn for each text."""
    turns = [render_passage(n, text, speaker, hand.clock.now()) for n, text in enumerate(said, 1)]
    return hand.kept("\n\n".join(turns), kind="narrative", session_id=session, segment_id=f"{session}-1", scope=scope)


def missing(hand: Hand, model: str = MODEL) -> list[str]:
    """Return the texts that a model has not encoded."""
    return [each.text for each in hand.store.encodings.missing(model, 1000)]


def littered(hand: Hand, random: Random, count: int) -> None:
    """Commit random facts, rules, events and sessions of every status, type, time and scope."""
    for n in range(count):
        text = " ".join(random.choices(WORDS, k=random.randint(1, 5)))
        scope, status = random.choice((LOCAL, LOCAL, ANN, OTHER)), random.choice((*Status, *[Status.ACTIVE] * 8))
        until = random.choice((None, None, NOON, NOON + DAY))
        start = random.choice((None, None, NOON - DAY, NOON + DAY / 2)) if until != NOON else NOON - DAY
        if n % 3:
            kind = random.choice(("fact", "rule", "event"))
            hand.kept(
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
                render_passage(m, f"{text} {m}", random.choice(SAID), NOON - (n + m) * DAY)
                for m in range(1, random.randint(2, 6))
            ]
            hand.kept(
                "\n\n".join(turns),
                kind="narrative",
                session_id=f"s{n % 4}",
                segment_id=f"{n}",
                scope=scope,
                status=status,
            )


class EncodingContract(Contract):
    """What a store keeps of the work of models, and how it searches it."""

    def test_a_text_is_missing_until_a_model_has_seen_it(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            encodings = harness.store.encodings
            assert (missing(harness), encodings.models(), encodings.coverage(MODEL, [LOCAL])) == ([], {}, (0, 0))
            tea, talk = harness.kept("is green", subject="tea"), segment(harness, "hello", "zebra")
            harness.kept("theirs", scope=OTHER)
            assert sorted(missing(harness)) == ["hello", "tea: is green", "theirs", "zebra"]
            assert encodings.how_many_missing(MODEL) == 4
            assert len(encodings.missing(MODEL, 3)) == 3
            first = next(each for each in encodings.missing(MODEL, 9) if each.text == "zebra")
            encodings.put(MODEL, [Encoding(first.digest, vectors_of("zebra"), states_of("zebra"))])
            assert encodings.coverage(MODEL, [LOCAL]) == (1, 3)
            assert encodings.coverage(MODEL, [LOCAL, OTHER]) == (1, 4)
            assert encodings.coverage(MODEL, []) == (0, 0)
            assert sorted(missing(harness)) == ["hello", "tea: is green", "theirs"]
            assert encode(harness) == 3
            assert (missing(harness), encodings.how_many_missing(MODEL)) == ([], 0)
            assert encodings.coverage(MODEL, [LOCAL]) == (3, 3)
            assert encodings.how_many_missing(OTHER_MODEL) == 4
            assert encodings.models() == {MODEL: 4}
            assert [first.digest] == digests(talk)[1:]
            assert first.digest not in digests(tea)

    def test_recallable_texts_are_missing_first(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            for n in range(5):
                harness.kept(f"old {n}", status=Status.SUPERSEDED)
                harness.kept(f"current {n}")
            assert all(text.startswith("current") for text in missing(harness)[:5])
            assert {each.text for each in harness.store.encodings.missing(MODEL, 5)} == {
                f"current {n}" for n in range(5)
            }

    def test_of_a_machine_s_turn_a_part_is_enough_and_a_person_s_same_words_are_another_text(
        self, tmp_path: Path
    ) -> None:
        with self.hand(tmp_path) as harness:
            segment(harness, "a long answer", speaker="assistant")
            segment(harness, "a long answer", speaker="Ann", session="t")
            assert sorted(each.in_part for each in harness.store.encodings.missing(MODEL, 9)) == [False, True]

    def test_texts_that_are_not_there_are_passed_over(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            atom = harness.kept("tea")
            (known,) = harness.store.encodings.missing(MODEL, 9)
            harness.put(atom.with_(content="coffee"))
            harness.store.encodings.put(MODEL, [Encoding(known.digest, vectors_of("tea"), states_of("tea"))])
            harness.store.encodings.put(MODEL, [Encoding(b"0123456789abcdef", vectors_of("?"), states_of("?"))])
            harness.store.encodings.put(MODEL, [])
            assert harness.store.encodings.models() == {}
            assert missing(harness) == ["coffee"]

    def test_equal_texts_share_one_encoding_and_it_goes_with_the_last_of_them(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            encodings = harness.store.encodings
            one, other, turns = harness.kept("tea"), harness.kept("tea", scope=ANN), segment(harness, "tea", "milk")
            assert encode(harness) == 2
            assert encodings.coverage(MODEL, [LOCAL, ANN]) == (4, 4)
            assert len(near(harness, "tea", LOCAL, ANN)) == 4
            text = digests(one)[0]
            harness.put(one.with_(content="gone"))
            harness.put(turns.with_(content=render_passage(1, "gone", "Ann", NOON)))
            assert encodings.states(MODEL, [text]) == {text: states_of("tea")}
            assert encodings.coverage(MODEL, [LOCAL, ANN]) == (1, 3)
            assert list(near(harness, "tea", LOCAL, ANN)) == [(other.id, 1)]
            harness.put(other.with_(content="gone"), scope=ANN)
            assert encodings.states(MODEL, [text]) == {}
            assert encodings.models() == {}
            assert near(harness, "tea", LOCAL, ANN) == {}

    def test_words_that_come_back_after_they_were_gone_have_to_be_encoded_again(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness, self.hand(tmp_path) as other:
            atom = harness.kept("tea")
            encode(harness)
            assert len(near(harness, "tea")) == len(near(other, "tea")) == 1
            atom = harness.put(atom.with_(content="milk")).atoms[0]
            assert near(harness, "tea") == {}
            harness.put(atom.with_(content="tea"))
            for each in (harness, other):
                assert missing(each) == ["tea"]
                assert each.store.encodings.coverage(MODEL, [LOCAL]) == (0, 1)
                assert near(each, "tea") == {}
            encode(other)
            assert scores(harness, "tea") == scores(other, "tea") != {}

    def test_dropping_a_model_forgets_all_it_made_and_nothing_else(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness, self.hand(tmp_path) as other:
            atom = harness.kept("tea")
            encode(harness), encode(harness, OTHER_MODEL)
            assert harness.store.encodings.models() == {MODEL: 1, OTHER_MODEL: 1}
            assert len(near(other, "tea")) == 1
            harness.store.encodings.drop(MODEL)
            for each in (harness, other):
                assert each.store.encodings.models() == {OTHER_MODEL: 1}
                assert each.store.encodings.states(MODEL, digests(atom)) == {}
                assert each.store.encodings.coverage(MODEL, [LOCAL]) == (0, 1)
                assert near(each, "tea") == {}
                assert len(near(each, "tea", model=OTHER_MODEL)) == 1
            assert encode(other) == 1
            assert len(near(harness, "tea")) == 1

    def test_the_nearest_are_those_a_look_at_every_passage_finds(self, tmp_path: Path) -> None:
        random = Random(5)
        with self.hand(tmp_path) as harness:
            littered(harness, random, 120)
            encode(harness)
            for n in range(40):
                question = " ".join(random.choices(WORDS, k=2))
                scopes = random.choice(((LOCAL,), (LOCAL, ANN), (ANN,), (LOCAL, ANN, OTHER), (BOB,)))
                first = int((NOON - random.randrange(100) * DAY).timestamp() * 1000)
                filters = {
                    "statuses": {each: random.choice((1.0, 0.5, 0.25)) for each in random.sample(list(Status), 4)},
                    "memory_types": frozenset(random.sample(list(MemoryType), random.randint(1, len(MemoryType)))),
                    "valid_at": random.choice((NOON - DAY, NOON, NOON + DAY / 2, NOON + DAY, NOON + 9 * DAY)),
                    "vector": random.choice((1.0, 0.5)),
                    "texts": {
                        (match.atom_id, match.n): match.score
                        for match in harness.search(question, *scopes, statuses=frozenset(Status), limit=9)
                    },
                    "text": random.choice((0.0, 0.25)),
                    "tilts": Tilts({"Ann": 0.1, "assistant": -0.3}, Span(first, first + 10**10), 0.2),
                }
                expected = by_hand(harness, question, query(harness, question, *scopes, **filters))
                whole = near(harness, question, *scopes, **filters, limit=10_000)
                assert whole.keys() == expected.keys()
                for key, passage in whole.items():
                    assert abs(passage.cosine - expected[key][0]) < CLOSE
                    assert abs(passage.score - expected[key][1]) < CLOSE
                    assert passage.scope in scopes
                limit = random.randint(1, 20)
                best = near(harness, question, *scopes, **filters, limit=limit)
                assert best == {key: whole[key] for key in best}
                cut = sorted((each.score for each in whole.values()), reverse=True)[:limit]
                assert {key for key, each in whole.items() if cut and each.score > cut[-1]} <= best.keys(), n
                assert len(best) >= len(cut)
                assert all(each.score >= cut[-1] for each in best.values())

    def test_a_found_passage_tells_who_said_it_when_and_how_its_atom_stands(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            turns = [render_passage(1, "tea?", "Ann", NOON - DAY), render_passage(2, "yes", None, None)]
            talk = harness.kept(
                "\n\n".join(turns), kind="narrative", session_id="s", segment_id="s-1", observed_at=NOON
            )
            fact = harness.kept("black", subject="tea", scope=ANN, status=Status.ARCHIVED, observed_at=NOON - 2 * DAY)
            encode(harness)
            span = Span(_ms(NOON - 3 * DAY), _ms(NOON))
            matches = near(harness, "tea", LOCAL, ANN, tilts=Tilts({}, span, 0.5))
            assert matches.keys() == {(talk.id, 1), (talk.id, 2), (fact.id, 1)}
            first, second, third = matches[talk.id, 1], matches[talk.id, 2], matches[fact.id, 1]
            assert (first.speaker, first.at_ms, first.asks, first.in_time) == ("Ann", _ms(NOON - DAY), True, True)
            assert (second.speaker, second.at_ms, second.asks, second.in_time) == ("", _ms(NOON), False, False)
            assert (third.speaker, third.at_ms, third.in_time) == ("", _ms(NOON - 2 * DAY), True)
            assert (third.scope, third.status, third.layer) == (ANN, Status.ARCHIVED, fact.layer)
            assert (third.origin, third.recorded_ms) == (fact.origin, _ms(NOON))
            assert [first.digest, second.digest, third.digest] == digests(talk) + digests(fact)
            assert first.session == second.session != third.session
            assert second.position == first.position + 1

    def test_ties_are_all_told_or_the_youngest_of_them_and_the_same_every_time(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            best = harness.kept("tea")
            tied = []
            for n in range(30):
                harness.clock.at = NOON + n * DAY
                tied.append(harness.kept("milk", valid_from=NOON + n * DAY))
            encode(harness)
            texts = {(best.id, 1): 10.0}
            for limit in (1, 3, 20, 31):
                first = near(harness, "milk", limit=limit, texts=texts, text=1.0)
                assert (best.id, 1) in first
                assert len(first) >= limit
                assert len({each.score for key, each in first.items() if key != (best.id, 1)}) <= 1
                if len(first) == limit:
                    assert first.keys() - {(best.id, 1)} == {(each.id, 1) for each in tied[len(tied) - limit + 1 :]}
                harness.store.rebuild()
                assert near(harness, "milk", limit=limit, texts=texts, text=1.0).keys() == first.keys()

    def test_a_passage_without_a_vector_counts_by_its_words_alone(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            seen = harness.kept("tea")
            encode(harness)
            fresh, silent = harness.kept("fresh"), harness.kept("silent")
            assert near(harness, "tea").keys() == {(seen.id, 1)}
            matches = near(harness, "tea", texts={(fresh.id, 1): 2.0, (silent.id, 2): 9.0}, text=0.25)
            assert matches.keys() == {(seen.id, 1), (fresh.id, 1)}
            assert (matches[fresh.id, 1].cosine, matches[fresh.id, 1].score) == (0.0, 0.5)
            assert near(harness, "tea", also=[(silent.id, 1)])[silent.id, 1].cosine == 0.0
            assert near(harness, "tea", model="nobody").keys() == set()
            assert near(harness, "tea", limit=0) == {}

    def test_what_is_asked_for_besides_comes_if_the_filters_let_it(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            atoms = [harness.kept(f"tea {n}") for n in range(20)]
            theirs, past = harness.kept("theirs", scope=ANN), harness.kept("past", status=Status.SUPERSEDED)
            encode(harness)
            everything = scores(harness, "tea 3", limit=100)
            (best,) = near(harness, "tea 3", limit=1)
            extra_keys: list[Key] = [(atoms[7].id, 1), (atoms[8].id, 1), (atoms[8].id, 2), (theirs.id, 1), (past.id, 1)]
            matches = scores(harness, "tea 3", limit=1, also=extra_keys)
            assert matches.keys() == {best, *extra_keys[:2]}
            assert matches == {key: everything[key] for key in matches}

    def test_passages_beside_the_best_come_along_within_their_session_and_scope_only(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            parts = []
            for n in range(3):
                harness.clock.at = NOON + timedelta(minutes=n)
                parts.append(segment(harness, *[f"part {n} turn {m}" for m in range(4)]))
                segment(harness, *[f"elsewhere {n} {m}" for m in range(4)], session="other")
                segment(harness, *[f"private {n} {m}" for m in range(4)], scope=ANN)
                harness.kept(f"a fact {n}", session_id="s")
            encode(harness)
            order = [(part.id, passage.n) for part in parts for passage in passages_of(part)]
            assert len(order) == 12
            places = {key: each.position for key, each in near(harness, "x", limit=1000).items() if key in order}
            assert sorted(order, key=places.__getitem__) == order
            assert [places[key] - places[order[0]] for key in order] == list(range(12))
            for reach in (1, 2, 5):
                for place, text in (
                    (0, "part 0 turn 0"),
                    (3, "part 0 turn 3"),
                    (4, "part 1 turn 0"),
                    (11, "part 2 turn 3"),
                ):
                    assert next(iter(near(harness, text, LOCAL, ANN))) == order[place]
                    matches = near(harness, text, LOCAL, ANN, limit=1, beside=reach)
                    assert matches.keys() == set(order[max(0, place - reach) : place + reach + 1])
                    assert len({each.session for each in matches.values()}) == 1
            assert near(harness, "a fact 1", limit=1, beside=3).keys() == near(harness, "a fact 1", limit=1).keys()

    def test_neighbours_follow_when_a_session_grows_and_when_a_part_of_it_is_put_away(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            first = segment(harness, "one", "two")
            encode(harness)
            assert near(harness, "two", limit=1, beside=1).keys() == {(first.id, 1), (first.id, 2)}
            harness.clock.at += timedelta(minutes=1)
            second = segment(harness, "three")
            encode(harness)
            assert near(harness, "two", limit=1, beside=1).keys() == {(first.id, 1), (first.id, 2), (second.id, 1)}
            harness.clock.at += timedelta(minutes=1)
            third = segment(harness, "four")
            encode(harness)
            harness.put(second.with_(status=Status.TOMBSTONED))
            matches = near(harness, "two", limit=1, beside=1)
            assert matches.keys() == {(first.id, 1), (first.id, 2), (third.id, 1)}
            assert sorted(each.position for each in matches.values()) == [0, 1, 2]
            matches = near(harness, "two", limit=1, beside=1, statuses=dict.fromkeys(Status, 1.0))
            assert matches.keys() == {(first.id, 1), (first.id, 2), (second.id, 1)}
            grown = f"{first.content}\n\n{render_passage(3, 'and more', 'Ann', NOON)}"
            harness.put(first.with_(content=grown))
            assert near(harness, "two", limit=1, beside=1).keys() == {(first.id, 1), (first.id, 2), (first.id, 3)}

    def test_what_another_hand_writes_encodes_or_rebuilds_is_seen_at_once(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as one, self.hand(tmp_path) as other:
            atom = one.kept("tea")
            encode(other)
            assert scores(one, "tea") == scores(other, "tea") != {}
            more = other.kept("milk")
            encode(other)
            assert scores(one, "tea").keys() == {(atom.id, 1), (more.id, 1)}
            other.put(atom.with_(content="gone"))
            assert scores(one, "tea").keys() == {(more.id, 1)}
            encode(other)
            other.store.rebuild()
            assert scores(one, "tea") == scores(other, "tea")
            other.put(more.with_(status=Status.TOMBSTONED))
            assert scores(one, "tea").keys() == scores(other, "tea").keys() == {(atom.id, 1)}

    def test_a_reader_who_asks_many_things_is_told_of_every_commit_before_the_first(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as one, self.hand(tmp_path) as other:
            kept = set[Key]()
            for n in range(6):
                kept.add(((one, other)[n % 2].kept(f"tea {n}").id, 1))
                with one.store.steady():
                    encode(one)
                    assert near(one, "tea").keys() == kept
                    assert set(one.found("tea")) == {atom_id for atom_id, _ in kept}
                    assert scores(one, "tea") == scores(one, "tea")

    def test_status_revision_forgetting_and_restoring_count_at_once(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            atom, other = harness.kept("tea"), harness.kept("milk")
            encode(harness)
            (full,) = (each.score for key, each in near(harness, "tea").items() if key == (atom.id, 1))
            atom = harness.put(atom.with_(status=Status.ARCHIVED)).atoms[0]
            halved = near(harness, "tea")[atom.id, 1]
            assert (halved.status, halved.score) == (Status.ARCHIVED, full / 2)
            atom = harness.put(atom.with_(status=Status.TOMBSTONED)).atoms[0]
            assert near(harness, "tea").keys() == {(other.id, 1)}
            assert (atom.id, 1) in near(harness, "tea", statuses={Status.TOMBSTONED: 1.0})
            atom = harness.put(atom.with_(status=Status.ACTIVE), way=Way.RESTORE).atoms[0]
            assert near(harness, "tea")[atom.id, 1].score == full
            assert missing(harness) == []
            atom = harness.put(atom.with_(content="coffee")).atoms[0]
            assert near(harness, "tea").keys() == {(other.id, 1)}
            encode(harness)
            assert near(harness, "coffee")[atom.id, 1].cosine > 1 - CLOSE

    def test_encodings_survive_every_change_but_that_of_their_words_and_a_rebuild(self, tmp_path: Path) -> None:
        random = Random(8)
        with self.hand(tmp_path) as harness:
            littered(harness, random, 40)
            encode(harness)
            for atom in harness.read():
                harness.put(atom.with_(pinned=True, tags=("x",), importance=0.1))
            for atom in harness.read(statuses=frozenset({Status.ACTIVE})):
                harness.put(atom.with_(status=random.choice((Status.ARCHIVED, Status.CHALLENGED, Status.TOMBSTONED))))
            assert missing(harness) == []
            filters = {"limit": 1000, "beside": 2, "statuses": dict.fromkeys(Status, 0.5)}
            before, models = scores(harness, "tea", LOCAL, ANN, **filters), harness.store.encodings.models()
            harness.store.rebuild()
            assert (missing(harness), harness.store.encodings.models()) == ([], models)
            assert scores(harness, "tea", LOCAL, ANN, **filters) == before
            assert harness.store.check() == []
        with self.hand(tmp_path) as again:
            assert scores(again, "tea", LOCAL, ANN, **filters) == before

    def test_scopes_and_atoms_stay_apart_after_a_rebuild(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as one, self.hand(tmp_path) as other:
            mine, more, theirs = one.atom("mine"), one.atom("more of mine"), one.atom("theirs", scope=ANN)
            more, theirs = more.with_(id=AtomId("1" + more.id[1:])), theirs.with_(id=AtomId("2" + theirs.id[1:]))
            for atom in (theirs, more, mine):
                one.put(atom, scope=atom.scope)
                assert near(one, "x") == {}
            encode(one)
            assert near(one, "x").keys() == near(other, "x").keys() == {(mine.id, 1), (more.id, 1)}
            one.store.rebuild()
            one.put(one.head(more).with_(pinned=True))
            for harness in (one, other):
                assert near(harness, "x").keys() == {(mine.id, 1), (more.id, 1)}
                assert near(harness, "x", ANN).keys() == {(theirs.id, 1)}
            one.put(one.head(more).with_(status=Status.TOMBSTONED))
            for harness in (one, other):
                assert near(harness, "x").keys() == {(mine.id, 1)}

    def test_nothing_in_another_scope_moves_a_nearness(self, tmp_path: Path) -> None:
        random = Random(9)
        with self.hand(tmp_path) as harness:
            for n in range(12):
                harness.kept(f"tea number {n}")
            segment(harness, "tea said", "milk said", "sugar said")
            encode(harness)
            filters = {"limit": 5, "beside": 1, "tilts": Tilts({"Ann": 0.25, "Bob": 0.5})}
            before, spoke = scores(harness, "tea", **filters), harness.store.encodings.speakers([LOCAL])
            rarity = harness.store.encodings.rarity([LOCAL], ["tea", "said"])
            theirs = []
            for n in range(40):
                scope = random.choice((ANN, BOB, OTHER))
                text = random.choice(("tea number 3", f"tea tea {n}", "tea said"))
                theirs.append(
                    harness.kept(text, scope=scope) if n % 2 else segment(harness, text, scope=scope, speaker="Eve")
                )
                if n % 8 == 0:
                    encode(harness)
                assert scores(harness, "tea", **filters) == before
            for atom in theirs:
                harness.put(harness.head(atom).with_(content="gone", status=Status.TOMBSTONED), scope=atom.scope)
            assert scores(harness, "tea", **filters) == before
            harness.store.rebuild()
            assert scores(harness, "tea", **filters) == before
            assert harness.store.encodings.speakers([LOCAL]) == spoke
            assert harness.store.encodings.rarity([LOCAL], ["tea", "said"]) == rarity

    def test_the_cosines_of_some_passages_are_those_of_the_search(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            littered(harness, Random(10), 30)
            encode(harness)
            fresh = harness.kept("not encoded")
            matches = near(harness, "tea milk", LOCAL, ANN, limit=1000)
            keys: list[Key] = [*matches, (fresh.id, 1), (fresh.id, 2), (harness.atom().id, 1)]
            results = harness.store.encodings.cosines(MODEL, asked("tea milk"), keys)
            assert results == [each.cosine for each in matches.values()] + [0.0, 0.0, 0.0]
            assert harness.store.encodings.cosines(MODEL, asked("tea milk"), []) == []
            assert set(harness.store.encodings.cosines("nobody", asked("tea milk"), keys)) == {0.0}

    def test_the_vectors_of_atoms_come_back_as_they_were_given(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            vectors = harness.store.encodings.vectors
            atoms = [harness.kept(f"tea {'x' * (n % 3)}{n}", subject="pot" if n % 2 else "") for n in range(510)]
            talk, over = segment(harness, "first", "second"), harness.kept("over", status=Status.SUPERSEDED)
            encode(harness)
            fresh = harness.kept("not encoded")
            stored = vectors(MODEL, [fresh.id, *(each.id for each in (talk, over, *atoms)), harness.atom().id])
            assert set(stored) == {each.id for each in (talk, over, *atoms)}
            for each in (talk, over, *atoms):
                text = "first" if each is talk else f"pot: {each.content}" if each.subject else each.content
                assert stored[each.id].shape == vectors_of(text).shape
                assert abs(stored[each.id] - vectors_of(text)).max() <= CLOSE
            assert vectors("nobody", [atoms[0].id]) == vectors(MODEL, []) == {}

    def test_token_states_come_back_as_they_were_given(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            atoms = [harness.kept(f"tea {n}") for n in range(1200)]
            encode(harness)
            expected_digests = [digests(atom)[0] for atom in atoms]
            results = harness.store.encodings.states(
                MODEL, [*expected_digests, expected_digests[0], b"0123456789abcdef"]
            )
            assert results == {
                digest: states_of(atom.content) for digest, atom in zip(expected_digests, atoms, strict=True)
            }
            assert (
                harness.store.encodings.states("nobody", expected_digests)
                == harness.store.encodings.states(MODEL, [])
                == {}
            )

    def test_states_packed_otherwise_serve_until_they_are_made_anew_and_the_vectors_stay(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness, self.hand(tmp_path) as other:
            encodings = harness.store.encodings
            atoms = [harness.kept(f"tea {n}") for n in range(6)]
            encode(harness, packing="coarse")
            before, expected_digests = scores(harness, "tea 3"), [digests(atom)[0] for atom in atoms]
            assert encodings.how_many_missing(MODEL, "coarse") == encodings.how_many_missing(MODEL) == 0
            assert encodings.how_many_missing(MODEL, "fine") == 6
            harness.kept("fresh"), harness.kept("old", status=Status.SUPERSEDED)
            unencoded = encodings.missing(MODEL, 9, packing="fine")
            assert [each.text for each in unencoded[:2]] == ["fresh", "old"]
            assert {each.digest for each in unencoded[2:]} == set(expected_digests)
            assert [each.text for each in encodings.missing(MODEL, 9)] == ["fresh", "old"]
            assert encodings.missing(MODEL, 9, [OTHER], "fine") == []
            repacked = unencoded[2:5]
            encodings.put(
                MODEL, [Encoding(each.digest, vectors_of("?"), states_of(each.text, "fine")) for each in repacked]
            )
            for each in (harness, other):
                results = each.store.encodings.states(MODEL, expected_digests)
                packed = {digest for digest, states in results.items() if states.packing == "fine"}
                assert packed == {each.digest for each in repacked}
                assert {digest: states.data for digest, states in results.items()} == {
                    digest: states_of(atom.content).data for digest, atom in zip(expected_digests, atoms, strict=True)
                }
                assert scores(each, "tea 3") == before
            assert encode(other, packing="fine") == 5
            harness.store.rebuild()
            assert encodings.how_many_missing(MODEL, "fine") == 0
            assert encodings.how_many_missing(MODEL, "coarse") == 8
            assert encodings.models() == {MODEL: 8}

    def test_speakers_are_those_who_said_something_in_the_scopes(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            speakers = harness.store.encodings.speakers
            assert speakers([LOCAL]) == frozenset()
            talk = segment(harness, "hello", speaker="Ann")
            segment(harness, "hello", speaker="Bob", scope=ANN)
            harness.kept("a fact")
            segment(harness, "a paragraph", speaker=None, session="t")
            assert speakers([LOCAL]) == {"Ann"}
            assert speakers([LOCAL, ANN]) == {"Ann", "Bob"}
            assert speakers([OTHER]) == speakers([]) == frozenset()
            talk = harness.put(talk.with_(content=render_passage(1, "hello", "Eve", NOON))).atoms[0]
            assert speakers([LOCAL]) == {"Eve"}
            talk = harness.put(talk.with_(status=Status.ARCHIVED)).atoms[0]
            assert speakers([LOCAL]) == {"Eve"}
            harness.put(talk.with_(status=Status.TOMBSTONED))
            assert speakers([LOCAL]) == frozenset()

    def test_rarity_is_counted_scope_by_scope_over_what_recall_searches(self, tmp_path: Path) -> None:
        with self.hand(tmp_path) as harness:
            harness.kept("green tea"), harness.kept("black tea"), harness.kept("milk")
            harness.kept("tea tea tea", scope=ANN)
            harness.kept("tea then", status=Status.SUPERSEDED)
            assert harness.store.encodings.rarity([LOCAL, ANN, OTHER], ["tea", "milk", "nothing"]) == {
                LOCAL: (3, {"tea": 2, "milk": 1}),
                ANN: (1, {"tea": 1}),
            }
            assert harness.store.encodings.rarity([LOCAL], []) == {LOCAL: (3, {})}
            assert harness.store.encodings.rarity([], ["tea"]) == {}


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
