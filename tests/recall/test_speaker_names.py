"""Which stored speakers a question names."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import read_corpus, share_right
from cpu_time import LONG, cpu_seconds
from lamina.recall.speaker_names import find_speakers, remove_speakers

PAIR = ("Caroline", "Melanie")


@pytest.mark.parametrize(("corpus", "threshold"), [("named_speakers", 1.0), ("named_speakers_held_out", 0.92)])
def test_whole_names_are_found(corpus: str, threshold: float) -> None:
    rows = read_corpus(Path(__file__).parent / "data" / f"{corpus}.jsonl")
    assert (
        share_right(rows, lambda row: [*find_speakers(row["question"], row["speakers"])] == row["named"]) >= threshold
    )


@pytest.mark.parametrize(
    ("question", "names", "remaining"),
    [
        ("What did Caroline say?", PAIR, "What did say?"),
        ("What are Melanie’s plans with Caroline?", PAIR, "What are plans with?"),
        ("What is James' job?", ("James",), "What is job?"),
        ("Caroline, what is new?", PAIR, ", what is new?"),
        ("What did Caroline say to Will, will it rain?", ("Caroline Smith", "Will"), "What did say to, will it rain?"),
        ("李雷喜欢什么？", ("李雷",), "喜欢什么？"),
        ("Caroline?", PAIR, "Caroline?"),
        ("Caroline's", PAIR, "Caroline's"),
        ("  What  is new?", PAIR, "  What  is new?"),
    ],
)
def test_names_are_removed_from_a_question(question: str, names: tuple[str, ...], remaining: str) -> None:
    assert remove_speakers(question, names) == remaining


def test_many_names_are_handled() -> None:
    names = [f"Person{number} Family{number}" for number in range(10_000)]
    assert find_speakers("What did Person77 tell Person9999 Family9999?", names) == (names[77], names[9999])


NAMES = st.lists(st.text(max_size=12) | st.sampled_from(["Will", "Caroline", "李雷", "The Boss"]), max_size=6)


@given(st.text(), NAMES)
def test_any_text_is_accepted(text: str, names: list[str]) -> None:
    texts = find_speakers(text, names)
    assert set(texts) <= set(names)
    remaining = remove_speakers(text, texts)
    assert remaining == text or len(remaining) < len(text) + 1
    assert remaining or not text


@given(NAMES)
def test_a_question_of_only_names_stays_a_question(names: list[str]) -> None:
    question = " ".join(names) + " x"
    assert remove_speakers(question, find_speakers(question, names)).strip() or not question.strip()


@pytest.mark.parametrize("part", [" ", "Caroline ", "Caroline's ", "Will ", "李雷", "'", "\u0301", "a"])
def test_long_texts_are_searched_quickly(part: str) -> None:
    text = part * (10_000 // len(part))
    names = ("Caroline", "Caroline Smith", "Will", "李雷")
    assert cpu_seconds(lambda: remove_speakers(text, find_speakers(text, names))) < LONG
