"""What must hold of rules extraction whatever the words: no crash, true evidence, the same again."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lamina.atom.kinds import KINDS
from lamina.capture.found import Said
from lamina.capture.rules.extractor import RulesExtractor
from lamina.text.sentences import sentences

NOON = datetime(2025, 3, 5, 12, tzinfo=UTC)
_PIECES = """
    I we my our the a is are was am have had do did don't live lives in at on to for with Oslo Ana Dr Reyes dentist dog
    brother moved works likes love brie never no not longer yesterday last week on Friday since May 3 £6 19:30 the 4th
    a@b.example 0344 555 019 and but because , . ; : ! ? - – " ' ( ) [ ] I'm we've who which that it they you said
"""
WORDS = st.lists(st.sampled_from(_PIECES.split()), max_size=40).map(" ".join)
ODD = st.sampled_from(["a " * 2000, "(" * 4000, "my " * 1300, "," * 4000, "I am " * 800, "a.a." * 1000, "no, " * 1000])


@settings(max_examples=300, deadline=None)
@given(text=st.one_of(WORDS, st.text(max_size=200)), speaker=st.sampled_from(["user", "Ana", None, "Maria José"]))
def test_every_finding_rests_on_a_sentence_that_holds_its_value(text: str, speaker: str | None) -> None:
    turns = [Said("seg", 0, text, speaker, NOON)]
    found = RulesExtractor().extract(turns)
    spans = sentences(text)
    for finding in found:
        assert (finding.evidence.start, finding.evidence.end) in spans
        sentence = text[finding.evidence.start : finding.evidence.end]
        for word in re.findall(r"\w+", finding.value or ""):
            assert re.search(rf"(?<!\w){re.escape(word)}(?!\w)", sentence)
        assert finding.content.endswith(".")
        assert finding.kind in KINDS
        assert 0 < finding.confidence <= 1
        assert finding.subject
    assert RulesExtractor().extract(turns) == found


@settings(max_examples=50, deadline=None)
@given(turns=st.lists(st.tuples(WORDS, st.sampled_from(["user", "assistant", "Ana"])), max_size=5))
def test_turns_are_told_in_their_order_and_the_assistant_never(turns: list[tuple[str, str]]) -> None:
    said = [Said("seg", n, text, speaker, NOON) for n, (text, speaker) in enumerate(turns)]
    places = [finding.evidence.passage for finding in RulesExtractor().extract(said, said)]
    assert places == sorted(places)
    assert all(turns[place][1] != "assistant" for place in places)


@given(text=ODD)
def test_odd_text_states_nothing(text: str) -> None:
    assert RulesExtractor().extract([Said("seg", 0, text, "user", NOON)]) == []


@pytest.mark.parametrize("text", ["", " ", ".", "\n\n", "I", "My", "I'm", "[image: a dog in the park]", "🙂🙂"])
def test_next_to_nothing_states_nothing(text: str) -> None:
    assert RulesExtractor().extract([Said("seg", 0, text, "user", NOON)]) == []


def test_a_sentence_said_twice_in_a_turn_is_told_once() -> None:
    assert len(RulesExtractor().extract([Said("seg", 0, "I love brie. " * 300, "user", NOON)])) == 1
