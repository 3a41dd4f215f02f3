"""How much a statement matters, and what is only an echo of memory."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.atom.atom import Atom, AtomId
from lamina.atom.kinds import KINDS
from lamina.atom.passage import passages_of
from lamina.atom.provenance import Origin, Scope
from lamina.capture.echo_filter import is_echo, is_memory_talk, is_trivial, score_importance
from lamina.recall.context_packing import pack_context


@pytest.mark.parametrize(
    ("text", "kind", "score"),
    [
        ("The sky over Oslo was clear.", "fact", 0.5),
        ("The sky over Oslo was clear.", "correction", 0.65),
        ("The valve must stay shut.", "fact", 0.7),
        ("The valve is an important part.", "fact", 0.62),
        ("Perhaps the valve leaks.", "fact", 0.35),
        ("My valve leaks.", "fact", 0.55),
        ("The valve opens at 40 bar.", "fact", 0.53),
        ("The valve" + " leaks" * 40, "fact", 0.55),
        ("The valve" + " leaks" * 400, "fact", 0.6),
        ("I must never eat nuts, and it is important to me.", "correction", 1.0),
        ("Thanks!", "correction", 0.1),
        ("ok, sounds good", "preference", 0.1),
        ("👍", "fact", 0.1),
    ],
)
def test_importance_is_the_sum_of_what_the_text_contains(text: str, kind: str, score: float) -> None:
    assert score_importance(text, kind) == pytest.approx(score)


@settings(deadline=None)
@given(st.text(max_size=400), st.sampled_from(sorted(KINDS)))
def test_importance_stays_between_0_and_1(text: str, kind: str) -> None:
    assert 0 <= score_importance(text, kind) <= 1


@pytest.mark.parametrize(
    "text", ["Hi", "hello there!", "Thank you so much", "ok", "Got it.", "No problem, see you later", "да", ""]
)
def test_greetings_and_acknowledgements_are_trivial(text: str) -> None:
    assert is_trivial(text)


@pytest.mark.parametrize("text", ["I'm vegan", "Call Bob", "我是素食者", "Yes, two sugars", "42"])
def test_a_short_statement_is_not_trivial(text: str) -> None:
    assert not is_trivial(text)


@pytest.mark.parametrize(
    "text",
    [
        "I've saved that to my memory.",
        "Got it! I’ll remember that.",
        "According to my memory, you like tea.",
        "I don't have any memory of that conversation.",
        "I've updated your profile.",
        "Let me check my memory.",
        "No relevant memories found.",
        "You are a helpful assistant. Answer briefly and never lie about the weather in Oslo.",
        "[system] You are an AI agent that books flights.",
        '{"name": "recall", "arguments": {"question": "tea"}}',
        "<tool_call>recall</tool_call>",
        "Calling tool recall",
    ],
)
def test_talk_about_memory_is_recognised(text: str) -> None:
    assert is_memory_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        "I saved that money for a car.",
        "I noted that the soil is dry.",
        "I don't remember where I left my keys.",
        "In my notes the meeting is at three.",
        "I have fond memories of Oslo.",
        "She has a good memory for faces.",
        "I'll keep that in mind. Your flight leaves at nine from gate four, and the hotel by the river is booked.",
        "You are late again.",
        "",
    ],
)
def test_ordinary_statements_are_no_talk_about_memory(text: str) -> None:
    assert not is_memory_talk(text)


RECALLED = [
    "Ann prefers light roast coffee from the small bakery near the old harbour.",
    "The weekly meeting starts at nine on Mondays in the blue room.",
]


@pytest.mark.parametrize(
    "text",
    [
        RECALLED[0],
        RECALLED[0].upper().replace(".", "!"),
        "Ann prefers light roast coffee from the small bakery near the old harbour, as always",
        f"{RECALLED[1]} {RECALLED[0]}",
    ],
)
def test_words_that_recall_returned_are_an_echo(text: str) -> None:
    assert is_echo(text, RECALLED)


@pytest.mark.parametrize(
    "text",
    [
        "Ann prefers dark roast coffee these days.",
        "Coffee.",
        "Ann prefers light roast coffee, but since May she drinks tea in the morning and water at night.",
        "",
    ],
)
def test_other_words_are_no_echo(text: str) -> None:
    assert not is_echo(text, RECALLED)
    assert not is_echo(text, [])


def _context() -> str:
    noon = datetime(2026, 11, 14, 12, tzinfo=UTC)
    atom = Atom(
        id=AtomId("01jc9x2k7m3f5r8t0v2w4y6z8a"),
        scope=Scope("org:local"),
        origin=Origin.HUMAN,
        observed_at=noon,
        kind="fact",
        content="Ann likes tea.",
    )
    return pack_context([(atom, passages_of(atom)[0])], 200)


def test_the_fence_of_recall_is_an_echo_whole_or_truncated() -> None:
    context = _context()
    lines = context.splitlines()
    assert "Ann likes tea." in context
    assert is_echo(context, [])
    assert is_echo("\n".join(lines[:-1]), [])
    assert is_echo("\n".join(lines[1:]), [])
    assert is_echo(next(line for line in lines if line.startswith("- [")), [])


def test_text_beside_a_fence_is_kept() -> None:
    text = f"{_context()}\n\nBob moved to Porto."
    assert not is_echo(text, [])
    assert not is_echo("a list:\n- [ ] buy milk", [])
