"""What a person says of themselves is said of them: names, agreement, days."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lamina.capture.found import Finding, Said
from lamina.capture.rules.extractor import RulesExtractor

NOON = datetime(2023, 5, 8, 12, tzinfo=UTC)  # a Monday


def only(text: str, speaker: str | None = "Ana", *others: str) -> Finding:
    before = [Said("seg", at, "Hello.", name, NOON) for at, name in enumerate(others)]
    (finding,) = RulesExtractor().extract([Said("seg", 9, text, speaker, NOON)], before)
    return finding


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("I'm a paediatric nurse.", "Ana is a paediatric nurse."),
        ("I've got two parrots.", "Ana has got two parrots."),
        ("I don't eat shellfish.", "Ana doesn't eat shellfish."),
        ("I do love marzipan.", "Ana loves marzipan."),
        ("I always fly with Finnair.", "Ana always flies with Finnair."),
        ("I bake bread and sell it at the market.", "Ana bakes bread and sells it at the market."),
        ("I taught myself Portuguese.", "Ana taught themselves Portuguese."),
        ("I keep my spare key under the bird bath.", "Ana keeps their spare key under the bird bath."),
        ("My aunt taught me to sail.", "Ana's aunt taught Ana to sail."),
        ("My wife and I adopted a greyhound.", "Ana's wife and Ana adopted a greyhound."),
        ("I used to row daily when I was at school.", "Ana used to row daily when they were at school."),
        ("I'd love to visit Patagonia.", "Ana would love to visit Patagonia."),
        ("i live in porto", "Ana lives in porto."),
        ("I’m allergic to hazelnuts!", "Ana is allergic to hazelnuts."),
    ],
)
def test_the_first_person_becomes_the_third(said: str, content: str) -> None:
    assert only(said).content == content


@pytest.mark.parametrize("speaker", ["user", "Human", None])
def test_a_speaker_without_a_name_is_the_user(speaker: str | None) -> None:
    finding = only("These days my dentist is Dr Reyes.", speaker)
    assert finding.content == "These days the user's dentist is Dr Reyes."
    assert finding.subject == "user"


@pytest.mark.parametrize(
    "said",
    [
        "Hey Ben, I joined a rowing club.",
        "By the way, I joined a rowing club, Ben.",
        "Wow! Yeah, I also joined a rowing club too!",
        "Benny, I just joined a rowing club - it's so cool!",
    ],
)
def test_greetings_and_names_called_are_left_out(said: str) -> None:
    assert only(said, "Ana", "Benny").content == "Ana joined a rowing club."


@pytest.mark.parametrize(
    ("said", "content", "begins"),
    [
        ("I joined a rowing club yesterday.", "Ana joined a rowing club on 7 May 2023.", (2023, 5, 7)),
        ("Last Friday I joined a rowing club.", "On 5 May 2023 Ana joined a rowing club.", (2023, 5, 5)),
        ("I joined a rowing club last Fri.", "Ana joined a rowing club on 5 May 2023.", (2023, 5, 5)),
        ("I joined a rowing club last week.", "Ana joined a rowing club in the week of 1 May 2023.", (2023, 5, 1)),
        ("I joined a crew last weekend.", "Ana joined a crew on the weekend of 6 May 2023.", (2023, 5, 6)),
        ("I joined a rowing club last month.", "Ana joined a rowing club in April 2023.", (2023, 4, 1)),
        ("I joined a rowing club in March.", "Ana joined a rowing club in March 2023.", (2023, 3, 1)),
        ("I joined a rowing club about five years ago.", "Ana joined a rowing club in about 2018.", (2018, 1, 1)),
        ("I've rented a studio since January.", "Ana has rented a studio since January 2023.", (2023, 1, 1)),
        ("I'll return the drill on Friday.", "Ana will return the drill on 12 May 2023.", (2023, 5, 12)),
        ("I'm moving to Porto in two weeks.", "Ana is moving to Porto around 22 May 2023.", (2023, 5, 22)),
        ("The release is scheduled for 12 June.", "The release is scheduled for 12 June 2023.", None),
    ],
)  # fmt: skip
def test_days_told_from_today_become_absolute(said: str, content: str, begins: tuple[int, int, int] | None) -> None:
    finding = only(said)
    assert finding.content == content
    assert finding.valid_from == (datetime(*begins, tzinfo=UTC) if begins else None)


def test_a_yearly_day_keeps_its_words() -> None:
    assert only("My birthday is 4 November.").content == "Ana's birthday is 4 November."


def test_a_bare_ordinal_keeps_its_words() -> None:
    assert only("Club night falls on the 18th.").content == "Club night falls on the 18th."
