"""Clauses taken apart: subject, verb and the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.text.frames import Form, Subject, frame
from lamina.text.tokens import plain, tokens


@pytest.mark.parametrize(
    ("text", "subject", "kind", "verb", "form"),
    [
        ("I live in Oslo", "I", "speaker", "live", "present"),
        ("Last week I moved house", "I", "speaker", "move", "past"),
        ("With the second oven we bake rolls", "we", "speaker", "bake", "present"),
        ("My brother Tom plays guitar", "My brother Tom", "owned", "play", "present"),
        ("Our head baker is Radek", "Our head baker", "owned", "be", "present"),
        ("The tune stuck in my head is Blue Moon", "The tune stuck in my head", "owned", "be", "present"),
        ("The wine we serve is a Riesling", "The wine we serve", "definite", "be", "present"),
        ("Doors open at nine", "Doors", "bare", "open", "present"),
        ("The kiln fires at dawn", "The kiln", "definite", "fires", "present"),
        ("Rye Society sells flour", "Rye Society", "named", "sell", "present"),
        ("I've been baking at Acme", "I", "speaker", "bake", "been doing"),
        ("I'm reading Stoner", "I", "speaker", "read", "progressive"),
        ("I'll call Ana", "I", "speaker", "call", "future"),
        ("I'm gonna call Ana", "I", "speaker", "call", "future"),
        ("I can play chess", "I", "speaker", "play", "modal"),
        ("My wife and I adopted a cat", "My wife and I", "speaker", "adopt", "past"),
        ("In this shop stock-taking is on hold", "stock-taking", "bare", "be", "present"),
        ("It rains", "It", "pronoun", "rain", "present"),
    ],
)
def test_a_clause_shows_its_subject_and_verb(text: str, subject: str, kind: str, verb: str, form: str) -> None:
    found = frame(tokens(text))
    assert found is not None
    assert plain(found.subject, text) == subject
    assert (found.kind, found.verb.rstrip("s"), found.form) == (Subject(kind), verb.rstrip("s"), Form(form))


def test_a_passive_is_told() -> None:
    found = frame(tokens("The tours are led by Ines"))
    assert found is not None
    assert found.passive
    assert (found.verb, plain(found.rest, "The tours are led by Ines")) == ("lead", "by Ines")


@pytest.mark.parametrize("text", ["I don't eat meat", "I no longer eat meat", "I never eat meat"])
def test_a_denial_is_told(text: str) -> None:
    found = frame(tokens(text))
    assert found is not None
    assert found.negated
    assert found.verb == "eat"


@pytest.mark.parametrize("text", ["", "Thanks!", "Good morning", "when I was young", "of course"])
def test_what_has_no_finite_verb_has_no_frame(text: str) -> None:
    assert frame(tokens(text)) is None


@given(
    st.lists(
        st.sampled_from(
            [
                "I",
                "we",
                "my",
                "the",
                "Ana",
                "is",
                "was",
                "have",
                "been",
                "going",
                "to",
                "in",
                "at",
                "on",
                "no",
                "not",
                "who",
                "that",
                ",",
                "and",
                "3",
                "dog's",
                "'s",
            ]
        ),
        max_size=25,
    )
)
def test_any_words_can_be_taken_apart(words: list[str]) -> None:
    found = frame(tokens(" ".join(words)))
    assert found is None or (found.subject and found.verb)
