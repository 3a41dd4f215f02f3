"""The plain ranking, computed by hand."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.atom.atom import Atom, AtomId
from lamina.atom.provenance import Scope
from lamina.atom.status import Status
from lamina.recall.plain_ranking import STATUS_BONUS, PlainResult, rank_plainly

NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def atom(name: str, content: str = "nothing of it", *, day: int = 0, **fields: Any) -> Atom:
    return Atom(
        id=AtomId(name),
        scope=Scope("org:local"),
        kind="fact",
        content=content,
        observed_at=NOON,
        recorded_at=NOON + day * DAY,
        **fields,
    )


def ids(ranked: list[PlainResult]) -> list[str]:
    return [result.atom.id for result in ranked]


def terms(question: str, *atoms: Atom) -> dict[str, float]:
    return dict(next(result for result in rank_plainly(atoms, question) if result.atom is atoms[0]).terms)


def test_every_term_has_its_constant() -> None:
    one = atom("a", "The Light Roast is best", metadata={"topic": "coffee beans", "by": "light_roast"}, day=1)
    result = terms("light roast", one, atom("b"))
    assert result == {"exact": 100.0, "summary": 24.0, "metadata": 0.0, "status": 2.0, "recency": 0.25}
    result = terms("roast coffee beans today", one, atom("b"), atom("c"), atom("d", day=2))
    assert result == {"exact": 0.0, "summary": 6.0, "metadata": 4.0, "status": 2.0, "recency": 0.25 * 0.75}
    assert terms("LIGHT_ROAST", one)["metadata"] == 8.0


def test_the_terms_sum_to_the_score() -> None:
    for result in rank_plainly([atom("a", "tea and milk"), atom("b", "tea"), atom("c")], "tea"):
        assert result.score == sum(value for _, value in result.terms)


def test_an_exact_match_outranks_shared_words_which_outrank_status_and_age() -> None:
    exact = atom("a", "we drink green tea daily", day=-9, status=Status.TOMBSTONED)
    words = atom("b", "tea that is green", day=-5, status=Status.SUPERSEDED)
    half = atom("c", "green paint", day=-4)
    meta = atom("d", metadata={"topic": "green tea"}, day=-3, status=Status.SUPERSEDED)
    live, waiting, old = (
        atom("e", day=-2),
        atom("f", day=-1, status=Status.CONSTRAINED),
        atom("g", status=Status.MERGED),
    )
    assert ids(rank_plainly([old, waiting, live, meta, half, words, exact], "green tea")) == list("abcdefg")


def test_the_newest_gets_the_whole_recency_bonus_by_rank_and_not_by_time() -> None:
    ranked = rank_plainly([atom("a", day=-5000), atom("b", day=0), atom("c", day=-1), atom("d", day=-1)], "zebra")
    assert ids(ranked) == ["b", "c", "d", "a"]
    assert [dict(result.terms)["recency"] for result in ranked] == [0.25, 0.1875, 0.125, 0.0625]


def test_ties_are_ordered_by_record_time_then_id() -> None:
    # One step of age apart, made up for by nothing else: equal scores come only from equal ranks, so ids decide.
    assert ids(rank_plainly([atom("c"), atom("a"), atom("b")], "zebra")) == ["a", "b", "c"]
    assert rank_plainly([], "zebra") == []


def test_an_unrecorded_atom_is_as_old_as_its_observation() -> None:
    fresh = atom("z").with_(recorded_at=None, observed_at=NOON + DAY)
    assert ids(rank_plainly([atom("a"), fresh], "zebra")) == ["z", "a"]


@pytest.mark.parametrize("status", list(Status))
def test_every_status_has_a_bonus(status: Status) -> None:
    assert terms("tea", atom("a", status=status))["status"] == STATUS_BONUS[status]
    assert STATUS_BONUS[Status.ACTIVE] >= STATUS_BONUS[status] >= STATUS_BONUS[Status.TOMBSTONED] == 0.0


def test_words_are_counted_once_and_not_stemmed() -> None:
    assert terms("tea tea milk", atom("a", "tea"))["summary"] == 12.0
    assert terms("teas", atom("a", "tea"))["summary"] == 0.0
    assert terms("snake_case", atom("a", "snake case"))["summary"] == 0.0


def test_other_scripts_are_matched() -> None:
    assert terms("ЧАЙ", atom("a", "зелёный чай"))["exact"] == 100.0
    assert terms("чай кофе", atom("a", "зелёный чай"))["summary"] == 12.0
    assert 0 < terms("绿茶好喝", atom("a", "我喜欢绿茶"))["summary"] < 24.0
    assert terms("cafe\u0301", atom("a", "Café"))["exact"] == 100.0


def test_a_question_without_words_matches_only_itself() -> None:
    assert terms("???", atom("a", "what???")) == {
        "exact": 100.0,
        "summary": 0.0,
        "metadata": 0.0,
        "status": 2.0,
        "recency": 0.25,
    }
    assert terms("  ", atom("a", "a  b"))["exact"] == 0.0


@given(st.lists(st.tuples(st.text("ab ", max_size=6), st.integers(0, 3), st.sampled_from(Status)), max_size=9))
def test_the_same_atoms_in_any_order_give_the_same_ranking(drawn: list[tuple[str, int, Status]]) -> None:
    atoms = [atom(f"{n}", text, day=day, status=status) for n, (text, day, status) in enumerate(drawn)]
    ranked = rank_plainly(atoms, "a ab")
    assert rank_plainly(random.Random(1).sample(atoms, len(atoms)), "a ab") == ranked
    assert [result.score for result in ranked] == sorted((result.score for result in ranked), reverse=True)
