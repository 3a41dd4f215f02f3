"""Which stored speakers a question names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpu_time import LONG, cpu_seconds
from lamina.recall.speaker_names import find_speakers, remove_speakers

PAIR = ("Caroline", "Melanie")


@pytest.mark.parametrize(
    ("question", "names", "texts"),
    [
        ("What did Caroline say?", PAIR, ("Caroline",)),
        ("what did caroline say", PAIR, ("Caroline",)),
        ("WHAT DID CAROLINE SAY", PAIR, ("Caroline",)),
        ("What are Melanie's plans with Caroline?", PAIR, ("Melanie", "Caroline")),
        ("What are Melanie’s plans?", PAIR, ("Melanie",)),
        ("Who is Carolines friend?", PAIR, ()),
        ("How many times did he call?", ("Tim",), ()),
        ("When did Tim call?", ("Tim",), ("Tim",)),
        ("What did Jean-Luc order?", ("Jean-Luc",), ("Jean-Luc",)),
        ("What did O’Brien order?", ("O'Brien",), ("O'Brien",)),
        ("Was sagte Zoe\u0308?", ("Zoë",), ("Zoë",)),
        ("Где живёт ИВАН?", ("Иван",), ("Иван",)),
        ("李雷喜欢什么？", ("李雷", "韩梅梅"), ("李雷",)),
        ("राम कहाँ है?", ("राम",), ("राम",)),
        ("रामा कहाँ है?", ("राम",), ()),
        # a first name
        ("What did Caroline say?", ("Caroline Smith", "Melanie Jones"), ("Caroline Smith",)),
        ("What did Caroline say?", ("Caroline Smith", "Caroline Jones"), ()),
        ("What did Caroline say?", ("Caroline", "Caroline Smith"), ("Caroline",)),
        ("What did caroline smith say?", ("Caroline", "Caroline Smith"), ("Caroline Smith",)),
        ("What did support say?", ("Support Desk",), ()),
        ("What did the boss say?", ("The Boss",), ("The Boss",)),
        ("The end of what?", ("The Boss",), ()),
        ("Is Dr. Jones in?", ("Dr. Miller",), ()),
        # roles
        ("What did the user ask the assistant?", ("user", "assistant"), ()),
        ("Is the AI a bot or a tool?", ("AI", "Bot", "tool", "Human"), ()),
        ("What did User 1 say?", ("User 1", "user"), ("User 1",)),
        ("What does the User want?", ("User 1",), ()),
        # words that are names
        ("What did Will say?", ("Will",), ("Will",)),
        ("Will I go?", ("Will",), ()),
        ("I asked. Will I go?", ("Will",), ()),
        ("Will's plan?", ("Will",), ("Will",)),
        ("What will I do, and may I hope?", ("Will", "May", "Hope"), ()),
        ("What WILL happen?", ("Will",), ()),
        ("Did May call in May?", ("May",), ("May",)),
        ("What happened on May 8?", ("May",), ()),
        ("Did I mark the art with grace?", ("Mark", "Art", "Grace"), ()),
        ("When did James visit Mark and Grace?", ("Mark", "Grace"), ("Mark", "Grace")),
        # what can be no name
        ("Do I take vitamin B at 7?", ("B", "7", "I", "", " ", "?", "Do"), ()),
        ("你好吗？", PAIR, ()),
        ("Wo wohnt sie?", PAIR, ()),
        ("¿Dónde vive mi hermana?", PAIR, ()),
        ("", PAIR, ()),
    ],
)
def test_whole_names_are_found(question: str, names: tuple[str, ...], texts: tuple[str, ...]) -> None:
    assert find_speakers(question, names) == texts


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
