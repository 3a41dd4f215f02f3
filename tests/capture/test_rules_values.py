"""What fills a slot is a whole phrase that means the same read alone; else the statement claims nothing."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lamina.capture.found import Finding, Said
from lamina.capture.rules.extractor import RulesExtractor
from lamina.capture.rules.slots import Slot
from lamina.capture.rules.values import is_sound

NOON = datetime(2025, 3, 5, 12, tzinfo=UTC)


def only(text: str) -> Finding:
    (finding,) = RulesExtractor().extract([Said("seg", 0, text, "Ana", NOON)])
    return finding


@pytest.mark.parametrize(
    "said",
    [
        "I have a parish meeting on Friday.",
        "I'm having a pottery show in May with my bowls.",
        "I joined a NABU program for young sailors.",
        "I joined a gym in Leith.",
        "I joined a new NABU bat group.",
        "I have a lot of seeds to choose from.",
        "I love rowing, fencing, and playing chess.",
        "I like puzzles that test my patience.",
        "I love showing my uncle round my allotment.",
        "My goal is to plant forty elms along the canal.",
        "My hens go mad when hawks circle.",
        "Our shed was hit by a nasty storm on Sunday.",
        "I've played croquet before.",
    ],
)
def test_what_is_not_owned_or_is_cut_off_claims_nothing(said: str) -> None:
    finding = only(said)
    assert (finding.attribute, finding.value) == (None, None)


@pytest.mark.parametrize(
    ("said", "attribute", "value"),
    [
        ("I joined Acme Tiles.", "employer", "Acme Tiles"),
        ("I joined the team at Acme Tiles.", "employer", "Acme Tiles"),
        ("I've been working at Acme Tiles for about 4 years.", "employer", "Acme Tiles"),
        ("I have a barge.", "owns", "a barge"),
        ("I use a ledger to keep track of orders.", "tool", "a ledger"),
        ("I like my steak rare.", "like", "steak rare"),
        ("I enjoy rye and salted butter.", "like", "rye and salted butter"),
        ("I've added 25 new stamps.", "add stamps", "25 new stamps"),
        ("I play CS:GO.", "hobby", "CS:GO"),
    ],
)
def test_a_value_is_trimmed_to_the_phrase_that_names_it(said: str, attribute: str, value: str) -> None:
    finding = only(said)
    assert (finding.attribute, finding.value) == (attribute, value)


def test_a_price_does_not_end_in_a_comma() -> None:
    assert only("The fee is £50, which is a lot less than last time.").value == "£50"


@pytest.mark.parametrize(
    "value", ["whom they're", "a kettle and", "boats to", "a lot of the", "for my", "next week", "stuff"]
)
def test_words_that_lean_on_others_are_no_value(value: str) -> None:
    assert not is_sound(Slot("Ana", "like", value))


@pytest.mark.parametrize("value", ["3 May", "on hold", "under the mat", "C++", "to mend clocks"])
def test_a_whole_phrase_is_a_value(value: str) -> None:
    assert is_sound(Slot("Ana", "like", value))
