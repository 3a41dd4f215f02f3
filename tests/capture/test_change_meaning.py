"""Slots by meaning: two sentences that fill one slot in other words, and those that only look alike."""

from __future__ import annotations

import pytest

from lamina.capture.change.link import Earlier, Link
from lamina.capture.change.links import decide
from lamina.capture.change.meaning import NAMES, WEIGHTS, best_filling, fillings
from lamina.capture.change.told import Told, tellings, told
from lamina.models.sense import alike


def telling(text: str) -> Told:
    found = told(text)
    assert found is not None
    return found


def linked(old: str, new: str) -> list[Link[int]]:
    return [
        link
        for each in tellings(new)
        for link in decide(each, [Earlier(one, 1) for one in tellings(old, guess=True)], alike)
    ]


def test_every_feature_has_a_weight() -> None:
    (found, *_) = fillings(telling("The kiln stands in the shed."), telling("The kiln now stands in the barn."), alike)
    assert len(found.features) == len(WEIGHTS) == len(NAMES)


def test_the_likeliest_values_are_those_that_were_exchanged() -> None:
    old, new = telling("Our printer is a Lexmark."), telling("The printer has been replaced by an Epson.")
    found = best_filling(old, new, alike)
    assert found is not None
    assert [each.root for each in found.old] == ["lexmark"]
    assert [each.root for each in found.new] == ["epson"]
    assert found.of_one_sort


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "Our samba group rehearses in the Methodist chapel.",
            "The samba group has moved its rehearsals to Dock Hall.",
        ),
        ("The hens are fed by Rosie.", "Rosie is off to college, so Tom took over feeding the hens."),
        ("The archive is kept in Dundee.", "They moved the archive over to Perth."),
        ("The bakery gets its flour from Gleaston Mill.", "The bakery has a new source of flour, Burwell Mill."),
        ("My e-mail is ida@fern.example.", "Write to me at ida@moss.example from today on."),
        ("My favourite cheese is stilton.", "I have gone off stilton completely."),
    ],
)
def test_a_change_told_in_other_words_is_sure(old: str, new: str) -> None:
    assert any(each.sure for each in linked(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The ceiling in the loft is 3.1 metres high.", "The ceiling in the workshop is 4.4 metres high."),
        ("The kitchen closes at 10 pm.", "The bar next door now closes at 9 pm."),
        ("My assistant works 30 hours a week.", "My assistant's sister has cut down to 20 hours a week."),
        ("The fair is in Lyon.", "Last year the fair was held in Turin."),
        ("My gran was born in Cork.", "My gran has just moved to Galway."),
        ("Bettina lives in Graz.", "Bettina spent her holidays in Maribor."),
        ("We have two hens.", "One of our hens is called Dolly."),
        ("The spare key is under the flowerpot.", "I finally bought a new flowerpot for the balcony."),
        ("Otto goes to the Steinbach school.", "Otto's class teacher is Ms Reuss."),
        ("Ferry tickets are sold at the customs house.", "Just for this week, ferry tickets are sold at the kiosk."),
        ("I shoot with a Nikon.", "Talia, my sister, shoots with a Fujifilm these days."),
        ("I subscribe to Orion.", "I subscribe to Granta as well since June, so there is plenty to read."),
    ],
)
def test_what_is_said_of_another_or_of_another_time_is_not(old: str, new: str) -> None:
    assert not any(each.sure for each in linked(old, new))


@pytest.mark.parametrize(
    "text",
    [
        "Yep, Nora.",
        "Congrats Nora!",
        "Bye, Nora!",
        "You're so good at this, Nora.",
        "Luna and Max!",
        "[image: a photo of a lake]",
    ],
)
def test_a_call_tells_nothing(text: str) -> None:
    assert tellings(text) == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We can change so much together.", "The trip was a lovely time together."),
        ("I'm so happy about the new studio!", "The studio is amazing now."),
        ("Pottery means the world to me.", "Pottery has been a wonderful comfort now."),
    ],
)
def test_feelings_replace_nothing(old: str, new: str) -> None:
    assert not any(each.sure for each in linked(old, new))
