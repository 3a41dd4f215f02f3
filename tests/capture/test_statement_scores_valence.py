"""Valence by words: its sign in seven languages, negation, and no valence for plain facts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.capture.statement_scores import score_valence

PLEASANT = (
    "We got married in June, the happiest day of my life.",
    "Ich bin sehr glücklich über das neue Haus.",
    "Je suis ravie de cette nouvelle.",
    "Estoy muy feliz con mi trabajo.",
    "Sono molto felice di vederti.",
    "Estou apaixonada por esta cidade.",
    "Ik ben heel blij en trots.",
    "Finally passed the exam 🥳",
)
UNPLEASANT = (
    "My grandmother died in March, I was so sad.",
    "Mein Hund ist gestorben, ich bin sehr traurig.",
    "J'ai très peur de perdre mon emploi.",
    "Fue un accidente terrible.",
    "È stata una giornata orribile.",
    "Tenho muito medo de voar.",
    "Ik ben verdrietig en bang dat het mislukt.",
    "The flight was cancelled 😡",
)
PLAIN = ("The API uses JWT tokens.", "Der Server läuft auf Port 5432.", "She prefers tea.", "", "…", "北京")


@pytest.mark.parametrize("text", PLEASANT)
def test_pleasant_words_give_a_positive_valence(text: str) -> None:
    assert score_valence(text) >= 0.4


@pytest.mark.parametrize("text", UNPLEASANT)
def test_unpleasant_words_give_a_negative_valence(text: str) -> None:
    assert score_valence(text) <= -0.4


@pytest.mark.parametrize("text", PLAIN)
def test_plain_facts_have_none(text: str) -> None:
    assert score_valence(text) == 0.0


def test_a_negation_turns_it_round_and_weakens_it() -> None:
    happy, unhappy = score_valence("I am happy."), score_valence("I'm not happy.")
    assert -happy < unhappy < 0 < happy
    assert score_valence("I'm very happy.") > happy


@given(st.text(max_size=300))
def test_any_text_has_a_valence_between_minus_one_and_one(text: str) -> None:
    assert -1.0 <= score_valence(text) <= 1.0
