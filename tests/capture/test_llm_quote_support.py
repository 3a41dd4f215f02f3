"""Whether a text supports a statement: the same words, owner, names and polarity.

Covers `lamina.capture.llm.grammatical_person`.
"""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lamina.capture.extractors import CapturedTurn
from lamina.capture.llm.quotes import QuotedPassage, QuoteFinder, find_named_days, find_unsupported_reason
from lamina.capture.receipt import DropReason

AT = datetime(2023, 5, 8, 13, tzinfo=UTC)


def reason(text: str, content: str, *, quote: str = "", subject: str = "Ann", context: str = "") -> DropReason | None:
    turn = CapturedTurn("s", 1, text, "Ann", AT)
    quote_finder = QuoteFinder(text)
    place, sentences = quote_finder.find_quote(quote or text), quote_finder.find_sentences(quote or text)
    assert place is not None
    assert sentences is not None
    passage = QuotedPassage(turn, place, sentences, [text, context, "Ann", "Bob"])
    return find_unsupported_reason(content, subject, passage, is_speaker=subject == "Ann", days=find_named_days(turn))


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("I moved to Lisbon yesterday.", "Ann moved to Lisbon on 7 May 2023."),
        ("I moved to Lisbon yesterday.", "I moved to Lisbon."),
        ("I still live in the old town of Lisbon.", "Ann resides in the old town of Lisbon still."),
        ("I work for Acme, and I prefer tea.", "Ann works for Acme and prefers tea."),
        ("Moved to Lisbon!", "Ann moved to Lisbon."),
        ("I don't drink coffee.", "Ann does not drink coffee."),
        ("I might move to Porto.", "Ann might move to Porto."),
        ("If I get the job I move to Porto.", "Ann moves to Porto if she gets the job."),
        ("I stopped smoking.", "Ann stopped smoking."),
        ("My sister lives in Porto.", "Ann's sister lives in Porto."),
        ("I have two cats.", "Ann has 2 cats."),
        ("I pay 1,200 a month for rent.", "Ann pays 1200 a month for rent."),
        ("Ich wohne in Lissabon.", "Ann wohnt in Lissabon."),
    ],
)
def test_a_faithful_rewording_is_supported(text: str, content: str) -> None:
    assert reason(text, content) is None


@pytest.mark.parametrize(
    ("text", "content", "why"),
    [
        ("I moved to Lisbon.", "Ann moved to Porto.", DropReason.NAME),
        ("I have two cats.", "Ann has 12 cats.", DropReason.NAME),
        ("I moved to Lisbon.", "Xavier moved to Lisbon.", DropReason.OWNER),
        ("I moved to Lisbon.", "Bob moved to Lisbon.", DropReason.OWNER),
        ("I moved to Lisbon.", "She moved to Lisbon with Bob.", DropReason.OWNER),
        ("I moved to Lisbon.", "You moved to Lisbon.", DropReason.OWNER),
        ("My sister lives in Porto.", "Ann lives in Porto.", DropReason.OWNER),
        ("My older sister lives in Porto.", "Ann lives in Porto.", DropReason.OWNER),
        ("Bob's brother lives in Porto.", "Bob lives in Porto.", DropReason.OWNER),
        ("She lives in Porto.", "Ann lives in Porto.", DropReason.OWNER),
        ("She lives in Porto.", "I live in Porto.", DropReason.OWNER),
        ("You live in Porto.", "Ann lives in Porto.", DropReason.OWNER),
        ("Bob lives in Porto.", "Ann lives in Porto.", DropReason.OWNER),
        ("I don't drink coffee.", "Ann drinks coffee.", DropReason.MEANING_REVERSED),
        ("I drink coffee.", "Ann does not drink coffee.", DropReason.MEANING_REVERSED),
        ("I never lived in Porto.", "Ann lived in Porto.", DropReason.MEANING_REVERSED),
        ("I might move to Porto.", "Ann moves to Porto.", DropReason.MEANING_REVERSED),
        ("I used to live in Porto.", "Ann lives in Porto.", DropReason.MEANING_REVERSED),
        ("I want to move to Porto.", "Ann moves to Porto.", DropReason.MEANING_REVERSED),
        ("I thought about learning Portuguese.", "Ann is learning Portuguese.", DropReason.MEANING_REVERSED),
        ("The Leeds office closes at six.", "Ann's office closes at six.", DropReason.OWNER),
        ("I stopped smoking.", "Ann smokes.", DropReason.CONTENT),
        ("I moved to Lisbon.", "Ann enjoys sunny weather.", DropReason.CONTENT),
        ("I moved to Lisbon.", "Ann.", DropReason.CONTENT),
        ("I moved to Lisbon.", " ", DropReason.CONTENT),
        ("I moved from Porto to Lisbon.", "Ann moved from Lisbon to Porto.", DropReason.CONTENT),
        ("Did I move to Lisbon?", "Ann moved to Lisbon.", DropReason.QUESTION),
    ],
)
def test_an_unsupported_statement_is_refused_with_the_reason(text: str, content: str, why: DropReason) -> None:
    assert reason(text, content) is why


def test_a_condition_applies_to_the_whole_sentence() -> None:
    text = "If I get the job, I move to Porto."
    assert reason(text, "Ann moves to Porto.", quote="I move to Porto") is DropReason.MEANING_REVERSED


def test_a_negation_applies_to_its_clause_only() -> None:
    text = "I'm not from here, I live in Porto."
    assert reason(text, "Ann lives in Porto.", quote="I live in Porto") is None
    text = "I don't think I live in Porto."
    assert reason(text, "Ann lives in Porto.", quote="I live in Porto") is DropReason.MEANING_REVERSED


@pytest.mark.parametrize(
    ("text", "content", "subject", "why"),
    [
        ("Bob lives in Porto.", "Bob lives in Porto.", "Bob", None),
        ("I live in Porto.", "Bob lives in Porto.", "Bob", DropReason.OWNER),
        ("I live in Porto.", "Ann lives in Porto.", "Bob", DropReason.OWNER),
        ("The demo is on Friday.", "The demo is on Friday.", "demo", None),
        ("The demo is on Friday.", "The demo is on Friday.", "Bob", DropReason.OWNER),
        ("My sister lives in Porto.", "Ann's sister lives in Porto.", "Ann's sister", None),
        ("My sister Eva lives in Porto.", "Ann's sister Eva lives in Porto.", "Eva", None),
        ("My sister Eva lives in Porto.", "Ann lives in Porto.", "Eva", DropReason.OWNER),
        ("Rooms B has 14 seats.", "Room B has 14 seats.", "Xavier", DropReason.NAME),
    ],
)
def test_a_statement_about_another_person_needs_their_name_in_the_text(
    text: str, content: str, subject: str, why: DropReason | None
) -> None:
    assert reason(text, content, subject=subject) is why


def test_a_pronoun_may_be_replaced_by_the_name_from_the_context() -> None:
    context = "My sister Eva looked at flats in Porto."
    assert reason("She moved there.", "Eva moved to Porto.", subject="Eva", context=context) is None
    assert reason("I moved there.", "Ann moved to Porto.", context=context) is None
    assert reason("I moved there.", "Eva moved to Porto.", context=context) is DropReason.OWNER
