"""What a question asks."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import read_corpus, share_right
from cpu_time import LONG, cpu_seconds
from lamina.recall.request_and_question import QuestionShape, RecallQuery, parse_question
from lamina.text.analyser import query_tokens

DATA = Path(__file__).parent / "data"
NOW = datetime(2023, 9, 20, 12, tzinfo=UTC)


def parsed(question: str) -> RecallQuery:
    return parse_question(question, ("Caroline", "assistant"), NOW)


def test_a_question_is_parsed() -> None:
    question = "How many times did Caroline use to swim before May 2023?"
    recall_query = parsed(question)
    assert recall_query.text == question
    assert recall_query.query_tokens == tuple(query_tokens(question))
    assert recall_query.speakers == ("Caroline",)
    assert recall_query.text_without_names == "How many times did use to swim before May 2023?"
    assert recall_query.time_windows.phrases == ("May 2023",)
    assert (
        recall_query.shape,
        recall_query.asks_assistant,
        recall_query.is_about_past,
        recall_query.is_small_talk,
    ) == (QuestionShape.COUNT, False, False, False)


@pytest.mark.parametrize(("corpus", "threshold"), [("questions", 1.0), ("questions_held_out", 0.9)])
def test_what_a_question_expects_is_recognised(corpus: str, threshold: float) -> None:
    """Each row names one property: the shape, or whether it asks an assistant, about the past, or for nothing."""

    def is_right(row: dict[str, Any]) -> bool:
        query = parsed(row["question"])
        return all(getattr(query, name) == expected for name, expected in row.items() if name != "question")

    assert share_right(read_corpus(DATA / f"{corpus}.jsonl"), is_right) >= threshold


@given(st.text(), st.lists(st.text(max_size=10), max_size=4))
def test_any_text_is_parsed(text: str, speakers: list[str]) -> None:
    recall_query = parse_question(text, speakers, NOW)
    assert recall_query.text == text
    assert recall_query.text_without_names or not text


@pytest.mark.parametrize(
    "part",
    [
        "you ",
        "did ",
        "do a ",
        "how many days ",
        "your ",
        "our last ",
        "used ",
        "used to ",
        "before ",
        "ok ",
        "previous ",
        "a-",
        "a",
        "is ",
    ],
)
def test_long_texts_are_parsed_quickly(part: str) -> None:
    text = part * (10_000 // len(part))
    assert cpu_seconds(lambda: parsed(text)) < LONG
