"""What plain sentences state, by family: in their own words, with the slot they fill."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from lamina.atom.claim import MULTI_VALUED, SELF_CLAIMING_KINDS
from lamina.atom.kinds import KINDS, Durability
from lamina.capture.found import Extractor, Finding, Said
from lamina.capture.rules.extractor import RulesExtractor

NOON = datetime(2025, 3, 5, 12, tzinfo=UTC)  # a Wednesday


def found(text: str, speaker: str | None = "user", *before: Said) -> list[Finding]:
    extractor: Extractor = RulesExtractor()
    return extractor.extract([Said("seg", 3, text, speaker, NOON)], before)


def only(text: str, speaker: str | None = "user") -> Finding:
    (finding,) = found(text, speaker)
    return finding


@pytest.mark.parametrize(
    ("said", "content", "subject", "attribute", "value"),
    [
        ("Our plumber is Lubna Haddad.", "The user's plumber is Lubna Haddad.", "user", "plumber", "Lubna Haddad"),
        ("Lubna Haddad is our plumber.", "Lubna Haddad is the user's plumber.", "user", "plumber", "Lubna Haddad"),
        ("The new intern is Sefton.", "The new intern is Sefton.", "user", "intern", "Sefton"),
        ("I live in Maputo.", "The user lives in Maputo.", "user", "home", "Maputo"),
        ("I moved to Maputo.", "The user moved to Maputo.", "user", "home", "Maputo"),
        ("Maputo is where I live.", "Maputo is where the user lives.", "user", "home", "Maputo"),
        ("I work at Acme Tiles.", "The user works at Acme Tiles.", "user", "employer", "Acme Tiles"),
        ("I'm allergic to hazelnuts.", "The user is allergic to hazelnuts.", "user", "allergy", "hazelnuts"),
        ("I was born in Ghent.", "The user was born in Ghent.", "user", "birthplace", "Ghent"),
        ("Yusuf coaches the juniors.", "Yusuf coaches the juniors.", "juniors", "coacher", "Yusuf"),
        ("The juniors are coached by Petra.", "The juniors are coached by Petra.", "juniors", "coacher", "Petra"),
        ("Entry is £6.", "Entry is £6.", "entry", "price", "£6"),
        ("Parking costs 4 euros.", "Parking costs 4 euros.", "parking", "price", "4 euros"),
        ("Doors open at 19:30.", "Doors open at 19:30.", "doors", "open time", "19:30"),
        ("The deadline moved to the 30th.", "The deadline moved to the 30th.", "deadline", "date", "the 30th"),
        ("The audit is on hold.", "The audit is on hold.", "audit", "status", "on hold"),
        ("We roast 120 kilos a week.", "The user roasts 120 kilos a week.", "user", "roast kilos", "120 kilos"),
        ("Our CI runs on Buildkite.", "The user's CI runs on Buildkite.", "ci", "run on", "Buildkite"),
        ("I train at Northside.", "The user trains at Northside.", "user", "train at", "Northside"),
        ("I love brie.", "The user loves brie.", "user", "like", "brie"),
        ("I avoid brie.", "The user avoids brie.", "user", "dislike", "brie"),
        ("I speak Tagalog.", "The user speaks Tagalog.", "user", "language", "Tagalog"),
        ("Bed A: leeks.", "The user lists leeks for Bed A.", "bed a", "entry", "leeks"),
        ("My passport expires on 3 May 2027.", "The user's passport expires on 3 May 2027.", "passport", "expire date",
         "3 May 2027"),
    ],
)  # fmt: skip
def test_a_plain_sentence_fills_a_slot(said: str, content: str, subject: str, attribute: str, value: str) -> None:
    finding = only(said)
    assert (finding.content, finding.subject, finding.attribute, finding.value) == (content, subject, attribute, value)
    assert finding.confidence >= 0.95


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("I love brie.", "preference"),
        ("I'm really into falconry.", "interest"),
        ("I run every morning.", "habit"),
        ("I want to restore an old piano.", "goal"),
        ("We decided to paint the hall green.", "decision"),
        ("I'll return the drill on Friday.", "commitment"),
        ("I can play the mandolin.", "skill"),
        ("I can't eat shellfish.", "constraint"),
        ("I have three hens.", "count"),
        ("I climbed Ben Nevis yesterday.", "event"),
        ("My sister is called Ana.", "relationship"),
        ("Please always answer in metric units from now on.", "rule"),
        ("Should I sell the caravan before winter?", "question"),
        ("The printer on the second floor is broken.", "fact"),
    ],
)
def test_each_family_has_its_kind(said: str, kind: str) -> None:
    assert only(said).kind == kind
    assert kind in KINDS


def test_a_person_met_in_passing_is_introduced() -> None:
    moved, introduced = found("My brother Tom lives in Oslo.")
    assert (moved.subject, moved.attribute, moved.value) == ("Tom", "home", "Oslo")
    assert introduced.content == "The user's brother is called Tom."
    assert (introduced.subject, introduced.attribute, introduced.value) == ("user", "sibling", "Tom")
    assert introduced.durability is Durability.CORE


@pytest.mark.parametrize(
    ("said", "content", "subject", "attribute", "value"),
    [
        ("You can reach me at ana@quill.example.", "The user can be reached by e-mail at ana@quill.example.", "user",
         "email", "ana@quill.example"),
        ("You can call the vet on 0344 555 019.", "The vet can be reached by phone on 0344 555 019.", "vet", "phone",
         "0344 555 019"),
        ("The clubhouse phone is 0344 555 019.", "The clubhouse phone is 0344 555 019.", "clubhouse", "phone",
         "0344 555 019"),
        ("Please send receipts to ledger@quill.example from now on.",
         "The user asks to send receipts to ledger@quill.example from now on.", "user", "email",
         "ledger@quill.example"),
        ("Forget the old number, call me on 0344 555 019.", "The user asks to call them on 0344 555 019.", "user",
         "phone", "0344 555 019"),
    ],
)  # fmt: skip
def test_contact_data_is_told_even_in_a_request(
    said: str, content: str, subject: str, attribute: str, value: str
) -> None:
    finding = only(said)
    assert (finding.content, finding.subject, finding.attribute, finding.value) == (content, subject, attribute, value)


@pytest.mark.parametrize(
    ("said", "attribute"),
    [
        ("My brother is called Tom.", "sibling"),
        ("Tom is my brother.", "sibling"),
        ("My daughter is called Mila.", "child"),
        ("My cat is called Pilot.", "pet"),
        ("My wife is called Ines.", "wife"),
        ("My aunt is called Ines.", None),
    ],
)
def test_relations_of_which_there_may_be_several_do_not_replace_each_other(said: str, attribute: str | None) -> None:
    finding = only(said)
    assert finding.attribute == attribute
    assert (finding.attribute in MULTI_VALUED) == (attribute not in (None, "wife"))


def test_what_a_relative_is_says_nothing_of_who_they_are() -> None:
    finding = only("My brother is a stonemason.")
    assert (finding.subject, finding.value) == ("user's brother", "a stonemason")


def test_each_clause_that_stands_alone_is_told() -> None:
    contents = [each.content for each in found("My GP is Dr Farrow, but my dentist is Dr Singh.")]
    assert contents == ["The user's GP is Dr Farrow.", "The user's dentist is Dr Singh."]


def test_a_clause_that_points_at_the_one_before_is_told_with_it() -> None:
    assert only("We changed our glazier, it's Paneworks.").content == "The user changed their glazier, it's Paneworks."


def test_praise_at_the_end_is_left_off() -> None:
    finding = only("I went to a falconry display yesterday and it was so much fun!", "Ana")
    assert finding.content == "Ana went to a falconry display on 4 March 2025."


def test_names_in_it_are_its_entities() -> None:
    assert only("I met Ines Duarte at the Copper Kettle.").entities == ("Ines Duarte", "Copper Kettle")


@pytest.mark.parametrize("said", ["I love brie.", "I run every morning.", "I prefer rowing in the rain."])
def test_what_claims_by_its_kind_has_an_attribute_of_its_own(said: str) -> None:
    finding = only(said)
    assert finding.kind in SELF_CLAIMING_KINDS
    assert finding.attribute not in (None, finding.kind)


def test_what_may_be_many_uses_the_words_of_the_model() -> None:
    attributes = {only(said).attribute for said in ("I love brie.", "I speak Dutch.", "I'm allergic to nuts.")}
    assert attributes <= MULTI_VALUED


def test_the_evidence_is_the_exact_sentence() -> None:
    text = "Good morning!  Our plumber is Lubna.  Bye."
    finding = only(text)
    assert (finding.evidence.segment, finding.evidence.passage) == ("seg", 3)
    assert text[finding.evidence.start : finding.evidence.end] == "Our plumber is Lubna."
