"""A statement says all that it rests on: which trip, sketches of what, whose collection; else it is not made."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lamina.capture.found import Finding, Said
from lamina.capture.rules.extractor import RulesExtractor

NOON = datetime(2025, 3, 5, 12, tzinfo=UTC)  # a Wednesday


def found(text: str, speaker: str | None = "Ana") -> list[Finding]:
    return RulesExtractor().extract([Said("seg", 0, text, speaker, NOON)])


def contents(text: str, speaker: str | None = "Ana") -> list[str]:
    return [each.content for each in found(text, speaker)]


@pytest.mark.parametrize(
    "said",
    [
        "The ride took us two hours.",
        "I photographed three herons on the road trip.",
        "I met a potter from Delft at the tournament.",
        "I always bring plum jam to the party.",
        "I'd rather walk until the errors are fixed.",
        "I spent all of March in Leith shortening my routine.",
        "My strategy involved counting the opponent's cards.",
        "I sailed with my cousins on the 2nd after my trip.",
        "I'm still deciding between the two kennels.",
        "The game was called Hollow Lantern.",
    ],
)
def test_an_occasion_that_only_the_talk_before_tells_yields_nothing(said: str) -> None:
    assert not any(word in each for each in contents(said) for word in ("the ", "The ", "their ", "strategy"))


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("I photographed three herons on the road trip to Texel.",
         "Ana photographed three herons on the road trip to Texel."),
        ("I won the county archery tournament.", "Ana won the county archery tournament."),
        ("I took my nephews to the beach on Sunday.", "Ana took their nephews to the beach on 2 March 2025."),
        ("The audit is on hold.", "The audit is on hold."),
        ("The deadline moved to the 30th.", "The deadline moved to the 30th."),
        ("I need 12 chairs for the party.", "Ana needs 12 chairs for the party."),
    ],
)  # fmt: skip
def test_what_is_told_apart_or_everybody_knows_is_kept(said: str, content: str) -> None:
    assert contents(said) == [content]


@pytest.mark.parametrize(
    "said",
    [
        "I wrote some drafts and letters.",
        "We're brewing some for Tom and Ines.",
        "I combined carpentry and weaving.",
        "I'm using slow breathing techniques.",
        "I was working on collecting seed catalogues.",
        "I'm in the middle of crime story.",
        "I usually row up the river.",
        "We lay under the oaks, sang rounds, and ate plums.",
        "Waffles are my go-to.",
        "Captain Nemo is my first choice.",
        "Rhubarb crumble is on my list.",
        "We paid £18 for a dozen of them.",
        "I've finished 15 episodes.",
        "I'm watching a series that grips me.",
        "I worked with a river warden on a project.",
        "I love Pilot.",
        "I like playing for fun.",
        "I have done fence training so far.",
        "I don't have a schedule.",
        "My tiny fellas moved into a bigger hutch.",
        "I plan to return on 20 July.",
        "We played Hollow Lantern and ate plums.",
        "I want to use my boat to make a positive difference.",
    ],
)
def test_half_of_a_statement_yields_nothing(said: str) -> None:
    assert found(said) == []


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("I combined carpentry and weaving into a folding loom.",
         "Ana combined carpentry and weaving into a folding loom."),
        ("Waffles are my go-to whenever I feel low.", "Waffles are Ana's go-to whenever they feel low."),
        ("I donate a tenth of my honey to a good cause in Bergen.",
         "Ana donates a tenth of their honey to a good cause in Bergen."),
        ("I sell herbs in Leith, including basil, mint, and sorrel, and I cycle there.",
         "Ana sells herbs in Leith, including basil, mint, and sorrel."),
        ("I'm restoring a Bechstein piano, and in my spare time, I'm building a kayak.",
         "Ana is restoring a Bechstein piano."),
    ],
)  # fmt: skip
def test_what_completes_a_statement_stays_with_it(said: str, content: str) -> None:
    assert contents(said)[0] == content


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("I met my brothers in Ghent on the 27th.", "Ana met their brothers in Ghent on 27 February 2025."),
        ("I'm giving a talk in Ghent on the 27th.", "Ana is giving a talk in Ghent on 27 March 2025."),
        ("I started teaching at Weir House two months back.",
         "Ana started teaching at Weir House in about January 2025."),
        ("I started pottery lessons in Ghent in late February.",
         "Ana started pottery lessons in Ghent in late February 2025."),
    ],
)  # fmt: skip
def test_a_day_without_its_month_or_year_is_the_nearest_that_fits(said: str, content: str) -> None:
    assert contents(said) == [content]


@pytest.mark.parametrize("said", ["I'm hosting a quiz night two weekends later.", "I rowed to Ghent not too long ago."])
def test_a_time_counted_from_one_that_is_not_told_yields_nothing(said: str) -> None:
    assert found(said) == []


def test_their_is_never_left_to_be_read_of_other_people() -> None:
    assert contents("I enjoy teaching neighbours about my beehives.") == [
        "Ana enjoys teaching neighbours about Ana's beehives."
    ]
    assert contents("I took some soup to the kennel for their comfort.") == []


def test_what_two_did_is_told_of_the_one_who_speaks() -> None:
    (finding,) = found("Hugo and I sailed to Texel on Sunday.")
    assert finding.subject == "Ana"
