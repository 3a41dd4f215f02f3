"""Corrections: told as such, also where only the right value is named."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lamina.capture.found import Finding, Said
from lamina.capture.rules.extractor import RulesExtractor

NOON = datetime(2025, 3, 5, 12, tzinfo=UTC)


def said(text: str, n: int = 0, speaker: str = "user") -> Said:
    return Said("seg", n, text, speaker, NOON)


def found(*texts: str) -> list[Finding]:
    return RulesExtractor().extract([said(text, n) for n, text in enumerate(texts)])


@pytest.mark.parametrize(
    "text",
    [
        "Actually, the lecture is in hall C.",
        "Oops, wrong line. The lecture is in hall C.",
        "Scratch that, the lecture is in hall C.",
        "I was mistaken, the lecture is in hall C.",
    ],
)
def test_a_correction_says_so(text: str) -> None:
    (finding,) = found(text)
    assert finding.content == "The lecture is in hall C."
    assert finding.corrects
    assert finding.kind == "correction"


@pytest.mark.parametrize(
    ("first", "correction", "content"),
    [
        ("The surgeon is Dr Amadi.", "No, it's Dr Amato.", "The surgeon is Dr Amato."),
        ("Club night falls on the 18th.", "Sorry, the 17th.", "Club night falls on the 17th."),
        ("Entry is £6.", "Make that £8.", "Entry is £8."),
        ("We need 12 chairs for the party.", "Hang on, 15 chairs.", "The user needs 15 chairs for the party."),
        ("Our tutor is Mr Hale.", "I gave you the wrong name. It's Mr Hall.", "The user's tutor is Mr Hall."),
    ],
)
def test_a_bare_value_corrects_the_latest_statement_of_its_type(first: str, correction: str, content: str) -> None:
    original, corrected = found(first, correction)
    assert corrected.content == content
    assert corrected.corrects
    assert (corrected.subject, corrected.attribute) == (original.subject, original.attribute)
    assert corrected.evidence.passage == 1
    assert corrected.value is not None
    assert corrected.value in correction


def test_what_is_corrected_may_stand_in_the_turns_before() -> None:
    before = [said("The surgeon is Dr Amadi.", 0), said("Noted.", 1, "assistant")]
    (corrected,) = RulesExtractor().extract([said("No, Dr Amato.", 2)], before)
    assert corrected.content == "The surgeon is Dr Amato."


def test_a_bare_value_with_nothing_to_correct_yields_nothing() -> None:
    assert found("No, Dr Amato.") == []
    assert len(found("I love brie.", "No, the 17th.")) == 1


def test_additions_and_changes_are_tagged() -> None:
    (added,) = found("I also speak Dutch.")
    (changed,) = found("I switched the south bed to sweet peas.")
    assert "additive" in added.tags
    assert "change" in changed.tags
    assert (changed.subject, changed.value) == ("south bed", "sweet peas")
