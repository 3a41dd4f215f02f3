"""What a question asks."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpu_time import LONG, cpu_seconds
from lamina.recall.recall_query import QuestionShape, RecallQuery, parse_question
from lamina.text.analyser import query_tokens

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


@pytest.mark.parametrize(
    "question",
    [
        "What did you recommend?",
        "which hostel did you suggest",
        "Did you say five eggs?",
        "What was it you told me?",
        "The list you gave me: what was third?",
        "You previously mentioned a website.",
        "you’d just explained that",
        "Have you told me this?",
        "What were the options you had listed?",
        "What methods you were referring to?",
        "Remind me which name it was?",
        "Remind me what the plan was",
        "What about our previous conversation?",
        "In our last chat there was a list",
        "in the earlier discussion",
        "In my last conversation with you",
        "What did the assistant say?",
        "What was your suggestion about the garden?",
        "your suggestion about tea",
        "I tried your recommendation for soup, what was it?",
        "In your previous answer?",
        "How did you recommend doing it?",
    ],
)
def test_a_question_about_assistant_turns_is_recognised(question: str) -> None:
    assert parsed(question).asks_assistant


@pytest.mark.parametrize(
    "question",
    [
        "Can you recommend a book?",
        "Do you know my name?",
        "What do you think?",
        "What would you suggest?",
        "Could you tell me what Mark said?",
        "Do you know what she recommended?",
        "Do you think she told him?",
        "Please remind me to call mum",
        "What does the photo remind her of?",
        "Who became assistant manager?",
        "What is the assistant coach called?",
        "What is your advice on tea?",
        "What's your recommendation?",
        "Give me your suggestions for dinner",
        "What did I say?",
        "What did Caroline suggest?",
        "Who was my last conversation with?",
        "What did he say in the last conversation with Rachel?",
        "Throughout our conversations, what did I ask?",
        "Was hast du empfohlen?",
        "你推荐了什么？",
        "",
        "you",
    ],
)
def test_other_questions_are_not_about_assistant_turns(question: str) -> None:
    assert not parsed(question).asks_assistant


@pytest.mark.parametrize(
    ("question", "shape"),
    [
        ("How many dogs do I have?", QuestionShape.COUNT),
        ("How much did I spend in total?", QuestionShape.COUNT),
        ("What does all of it add up to in total?", QuestionShape.COUNT),
        ("How many weeks ago was I at the harbour?", QuestionShape.TEMPORAL),
        ("How many days passed between the two trips?", QuestionShape.TEMPORAL),
        ("When did Caroline move?", QuestionShape.TEMPORAL),
        ("What year did he start surfing?", QuestionShape.TEMPORAL),
        ("How long was I away?", QuestionShape.TEMPORAL),
        ("Can you recommend a film?", QuestionShape.RECOMMENDATION),
        ("What should I cook tonight?", QuestionShape.RECOMMENDATION),
        ("Any tips for my trip?", QuestionShape.RECOMMENDATION),
        ("Which film did you recommend?", QuestionShape.FACTUAL),
        ("What did Tim suggest to John?", QuestionShape.FACTUAL),
        ("What is my favourite colour?", QuestionShape.PREFERENCE),
        ("Does Caroline like tea?", QuestionShape.PREFERENCE),
        ("Where does Caroline live?", QuestionShape.FACTUAL),
        ("", QuestionShape.FACTUAL),
    ],
)
def test_a_question_has_a_shape(question: str, shape: QuestionShape) -> None:
    assert parsed(question).shape is shape


@pytest.mark.parametrize(
    ("question", "past"),
    [
        ("Where did I used to live?", True),
        ("Where did she use to live?", True),
        ("What was my name before I changed it?", True),
        ("Have I been there before?", True),
        ("What was the plan originally?", True),
        ("Which editor did I use previously?", True),
        ("What was it like back then?", True),
        ("What was my previous job?", True),
        ("What is flour used to make?", False),
        ("Am I used to the cold?", False),
        ("What did Ola use to bind the loaf?", False),
        ("What should I do before the interview?", False),
        ("What did I do the day before?", False),
        ("What did I buy before 3 May?", False),
        ("In our previous conversation, what was it?", False),
        ("What did I bake in the past two weeks?", False),
        ("Where do I live?", False),
    ],
)
def test_a_question_about_the_past_is_recognised(question: str, past: bool) -> None:
    assert parsed(question).is_about_past is past


@pytest.mark.parametrize(
    ("text", "idle"),
    [
        ("ok", True),
        ("OK!", True),
        ("Thanks!", True),
        ("thank you so much", True),
        ("hi", True),
        ("Hi, Caroline!", True),
        ("Good morning", True),
        ("ok great, thanks", True),
        ("👍", False),
        ("...", True),
        ("That's great", True),
        ("谢谢", True),
        ("Danke", True),
        ("Yes.", True),
        ("Caroline", False),
        ("ok, where do I live?", False),
        ("thanks for what?", False),
        ("hi there what is new", False),
        ("What is good?", False),
        ("tea", False),
        ("Wo wohne ich?", False),
        ("no sugar", False),
    ],
)
def test_a_bare_greeting_has_no_query(text: str, idle: bool) -> None:
    assert parsed(text).is_small_talk is idle


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
