"""The score by which a search selects its candidates, computed above the store from plain values."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from lamina.atom.status import Status
from lamina.clock import FixedClock
from lamina.recall.candidate_scoring import FirstScores, ScoreTerms, select_best
from lamina.recall.scoring_profiles import TRANSFORMER_PROFILE
from lamina.store.encodings import PassageKey
from lamina.store.passages import NearPassage
from lamina.store.sqlite import SqliteStore
from lamina.testing import ANN, DAY, LOCAL, NOON, StoreHarness
from lamina.testing.stored_encodings import WORDS, commit_random_atoms, commit_segment
from lamina.testing.vector_reference import encode_missing, nearest_passages
from lamina.text.time_windows import TimeWindows


def scored(
    scores: FirstScores, passages: dict[PassageKey, NearPassage], texts: dict[PassageKey, float]
) -> dict[PassageKey, float]:
    candidates = scores.to_candidates(list(passages.values()), {}, texts)
    return {candidate.key: candidate.first_score for candidate in candidates}


def test_the_nearest_of_every_part_and_the_text_matches_contain_the_best_by_score(tmp_path: Path) -> None:
    random, clock = Random(12), FixedClock(NOON)
    store = SqliteStore(tmp_path, clock)
    harness = StoreHarness(store, clock)
    commit_random_atoms(harness, random, 150)
    for n in range(40):
        clock.at = NOON + n * DAY
        speaker = random.choice(("Ann", "assistant", "Bob"))
        commit_segment(harness, " ".join(random.choices(WORDS, k=3)), speaker=speaker, session=f"s{n}")
    encode_missing(harness)
    selected = 0
    for _ in range(60):
        question = " ".join(random.choices(WORDS, k=2))
        first = NOON + random.randrange(-40, 40) * DAY
        terms = ScoreTerms(
            {"Ann": random.choice((0.08, 0.3)), "assistant": random.choice((0.0, -0.12)), "Eve": 0.08},
            random.choice((None, TimeWindows(((first, first + 10 * DAY),)))),
            0.2,
            0.1,
        )
        scores = FirstScores(
            TRANSFORMER_PROFILE, terms, {status: random.choice((1.0, 0.92, 0.5)) for status in list(Status)[:4]}
        )
        filters: dict[str, Any] = {"statuses": frozenset(scores.status_weights)}
        matches = harness.search(question, LOCAL, ANN, limit=7, **filters)
        texts = {(match.atom_id, match.n): match.score for match in matches}
        everything = scored(scores, nearest_passages(harness, question, LOCAL, ANN, limit=10_000, **filters), texts)
        limit = random.randint(1, 20)
        found = nearest_passages(
            harness, question, LOCAL, ANN, limit=limit, partition=scores.partition, keys=texts, **filters
        )
        best = select_best(scores.to_candidates(list(found.values()), {}, texts), limit)
        cut = sorted(everything.values(), reverse=True)[:limit][-1]
        assert {candidate.key for candidate in best} >= {key for key, score in everything.items() if score > cut}
        assert len(best) >= min(limit, len(everything)) and all(candidate.first_score >= cut for candidate in best)
        selected += len(found) < len(everything)
    assert selected > 30, "most searches leave passages out"
    store.close()


def test_a_score_adds_cosine_words_and_terms_and_multiplies_by_the_weight_of_the_status(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    store = SqliteStore(tmp_path, clock)
    harness = StoreHarness(store, clock)
    said = commit_segment(harness, "tea in a cup", speaker="Ann")
    fact = harness.add("milk", status=Status.ARCHIVED)
    encode_missing(harness)
    passages = nearest_passages(harness, "tea in a cup")
    window = TimeWindows(((NOON - DAY, NOON + DAY),))
    scores = FirstScores(
        TRANSFORMER_PROFILE, ScoreTerms({"Ann": 0.08}, window, 0.2, 0.1), {Status.ACTIVE: 1.0, Status.ARCHIVED: 0.5}
    )
    result = scored(scores, passages, {(said.id, 1): 3.0})
    cosine = passages[said.id, 1].cosine
    assert result[said.id, 1] == cosine * 0.5 + 3.0 * 0.01 + (0.08 + 0.2)
    below = passages[fact.id, 1].cosine * 0.5 + 0.2
    assert result[fact.id, 1] == (below * 0.5 if below > 0 else below)
    (candidate,) = scores.to_candidates([passages[said.id, 1]], {}, {})
    assert candidate.terms == {"speaker": 0.08, "time": 0.2}
    store.close()


def test_passages_that_tie_at_the_cut_are_all_selected_or_the_newest_of_them(tmp_path: Path) -> None:
    clock = FixedClock(NOON)
    store = SqliteStore(tmp_path, clock)
    harness = StoreHarness(store, clock)
    tied = []
    for n in range(9):
        clock.at = NOON + n * DAY
        tied.append((harness.add("milk", valid_from=NOON).id, 1))
    encode_missing(harness)
    scores = FirstScores(TRANSFORMER_PROFILE, ScoreTerms({}), {Status.ACTIVE: 1.0})
    candidates = scores.to_candidates(list(nearest_passages(harness, "milk").values()), {}, {})
    assert {candidate.key for candidate in select_best(candidates, 5)} == set(tied)
    assert {candidate.key for candidate in select_best(candidates, 2)} == set(tied[-2:])
    assert {candidate.key for candidate in select_best(candidates, 20)} == set(tied)
    store.close()
