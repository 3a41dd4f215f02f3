"""Near-duplicates take one slot, and nothing that differs in what matters is folded."""

from __future__ import annotations

import time
from datetime import date
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.recall.result_selection import FoldedHits, HitContent, fold_duplicates
from lamina.text.normal_form import normal_form

LONG = "the quarterly report about coffee prices in Lisbon is on the shared drive under finance for everybody to read"


def is_folded(one: str, other: str) -> bool:
    return fold_duplicates([HitContent(one), HitContent(other)]).places == (0,)


def test_equal_texts_share_the_first_slot() -> None:
    hits = [
        HitContent("Tea is hot."),
        HitContent("coffee"),
        HitContent("tea is HOT"),
        HitContent("Ｔｅａ is hot!"),
        HitContent("coffee!"),
        HitContent("milk"),
    ]
    assert fold_duplicates(hits) == FoldedHits((0, 1, 5), {0: [2, 3], 1: [4]})
    assert fold_duplicates([]) == FoldedHits((), {})


def test_a_few_additional_words_are_a_near_duplicate_in_both_directions() -> None:
    assert is_folded(LONG, f"{LONG} please")
    assert is_folded(f"well, {LONG}", LONG)
    assert not is_folded(LONG, f"{LONG} but ask Ann and Bob and Carla about it")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann lives in Berlin", "Ann lived in Berlin"),
        ("Ann likes Bob", "Bob likes Ann"),
        ("costs $5", "costs 5%"),
        ("it is -5 outside", "it is 5 outside"),
        ("tea", "milk"),
        ("", ""),
        ("👍", "👍"),
        ("Ann lives in Berlin", "Ann lives in Berlin?"),
        ("pay 1.5 now", "pay 1 5 now"),
        (LONG, LONG.replace("Lisbon", "Porto")),
        (LONG, LONG.replace("is on", "is not on")),
        (LONG, LONG.replace("is on", "isn't on")),
        (LONG, LONG.replace("for everybody", "for nobody")),
        (LONG, LONG.replace("read", "read 12 times")),
        (LONG, LONG.replace("report", "report of May 3")),
        (LONG, f"{LONG} on Monday"),
        (LONG, f"{LONG} twice"),
        (LONG, f"if {LONG}"),
        (f"{LONG} from 3 to 5", f"{LONG} from 5 to 3"),
        ("我非常喜欢在早上和朋友们一起喝绿茶因为味道很好", "我非常不喜欢在早上和朋友们一起喝绿茶因为味道很好"),
    ],
)
def test_meaningful_differences_keep_them_separate(one: str, other: str) -> None:
    assert not is_folded(one, other)
    assert not is_folded(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I don't like tea", "i don’t like tea"),
        ("It costs 5 %", "it costs 5%!"),
        ("covid-19 is over", "Covid 19 is over"),
        ("what??", "What?"),
        ("绿茶很好喝", "绿茶很好喝。"),
    ],
)
def test_punctuation_does_not_matter(one: str, other: str) -> None:
    assert is_folded(one, other)


def test_another_subject_speaker_or_day_separates_and_an_unknown_one_does_not() -> None:
    day = date(2026, 11, 14)
    for one, other in [
        (HitContent("likes tea", subject="Ann"), HitContent("likes tea", subject="Bob")),
        (HitContent("likes tea", speaker="Ann"), HitContent("likes tea", speaker="Bob")),
        (HitContent("went running", day=day), HitContent("went running", day=date(2026, 11, 15))),
    ]:
        assert fold_duplicates([one, other]).places == (0, 1)
        assert fold_duplicates([one, HitContent(other.text)]).places == (0,)
    assert fold_duplicates(
        [HitContent("likes tea", subject="Ann "), HitContent("Likes tea.", subject="ANN")]
    ).places == (0,)


def test_a_fact_and_its_turn_are_not_duplicates() -> None:
    for more in ("!", " please"):
        assert fold_duplicates([HitContent(LONG, kind="fact"), HitContent(LONG + more, kind="narrative")]).places == (
            0,
            1,
        )
        assert fold_duplicates([HitContent(LONG, kind="fact"), HitContent(LONG + more, kind="fact")]).places == (0,)
        assert fold_duplicates([HitContent(LONG, kind="fact"), HitContent(LONG + more)]).places == (0,)


def test_a_slot_does_not_join_separate_texts() -> None:
    hits = [HitContent("likes tea"), HitContent("likes tea", subject="Ann"), HitContent("likes tea", subject="Bob")]
    assert fold_duplicates(hits) == FoldedHits((0, 2), {0: [1]})


def test_hits_are_folded_into_slots_and_not_along_a_chain() -> None:
    words = [f"w{n:c}" for n in range(97, 117)]
    chain = [HitContent(" ".join(words[: 20 - n])) for n in range(8)]
    assert fold_duplicates(chain) == FoldedHits((0, 3, 5, 7), {0: [1, 2], 3: [4], 5: [6]})


WORDS = st.sampled_from(["ann", "bob", "tea", "milk", "not", "5", "7", "monday", "green", "lisbon", "茶", "café"])
TEXTS = st.lists(
    st.lists(WORDS, max_size=4)
    .map(" ".join)
    .flatmap(
        lambda end: st.sampled_from(["", LONG, " ".join(LONG.split()[3:]), "a b c d e f g h i j k l"]).map(
            lambda start: f"{start} {end}".strip()
        )
    ),
    max_size=14,
)


@settings(deadline=None)
@given(TEXTS)
def test_every_hit_has_one_place_and_comparing_rare_words_misses_nothing(texts: list[str]) -> None:
    folded_hits = fold_duplicates([HitContent(text) for text in texts])
    places = [*folded_hits.places, *(n for group in folded_hits.folded.values() for n in group)]
    assert sorted(places) == list(range(len(texts)))
    assert list(folded_hits.places) == sorted(folded_hits.places)
    assert all(n < min(group) and group == sorted(group) for n, group in folded_hits.folded.items())
    stored: list[int] = []
    for n, text in enumerate(texts):
        slot = next((k for k in stored if is_folded(texts[k], text)), None)
        assert (n in folded_hits.places) == (slot is None)
        if slot is None:
            stored.append(n)
        else:
            assert n in folded_hits.folded[slot]


@settings(deadline=None)
@given(TEXTS)
def test_equal_normal_forms_with_equal_punctuation_share_a_slot(texts: list[str]) -> None:
    folded_hits = fold_duplicates([HitContent(text) for text in texts for _ in (0, 1)])
    assert len(folded_hits.places) == len(fold_duplicates([HitContent(text) for text in texts]).places) + sum(
        not normal_form(text) for text in texts
    )


def test_a_hundred_hits_are_folded_quickly() -> None:
    random = Random(7)
    vocabulary = [f"word{n:c}{m:c}" for n in range(97, 117) for m in range(97, 117)]
    hits = [HitContent(" ".join(random.choices(vocabulary, k=40))) for _ in range(100)]
    began = time.thread_time()
    assert len(fold_duplicates(hits * 2).places) == 100
    assert time.thread_time() - began < 1.0
