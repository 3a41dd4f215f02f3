"""Claims: the slot a fact fills."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from lamina.atom import Atom, AtomId, Scope
from lamina.atom.claim import (
    ATTRIBUTE_SYNONYMS,
    MULTI_VALUED_ATTRIBUTES,
    Claim,
    can_replace,
    claim_of,
    comparable_value,
    mark_multi_valued,
)
from lamina.text.normal_form import normal_form

BASE = Atom(
    id=AtomId("0" * 26),
    scope=Scope("org:local"),
    kind="fact",
    content="Ann lives in Lisbon.",
    observed_at=datetime(2026, 1, 1, tzinfo=UTC),
)


def fact(**fields: Any) -> Atom:
    return BASE.with_(**fields)


def test_a_fact_with_an_attribute_claims_subject_and_attribute() -> None:
    assert str(claim_of(fact(subject="Ann", attribute="city"))) == "ann::city"


def test_two_spellings_of_a_slot_give_one_claim() -> None:
    assert claim_of(fact(subject=" ANN  Lee", attribute="Home-City")) == claim_of(
        fact(subject="Ann Lee", attribute="home city")
    )


@pytest.mark.parametrize("subject", ["安", "Аня", "آن", "แอน"])
def test_subjects_of_every_script_have_distinct_claims(subject: str) -> None:
    assert claim_of(fact(subject=subject, attribute="city")) == Claim(normal_form(subject), "city")


@pytest.mark.parametrize("kind", ["preference", "habit"])
def test_a_preference_or_habit_without_an_attribute_is_no_claim(kind: str) -> None:
    assert claim_of(fact(kind=kind, subject="Ann")) is None
    assert claim_of(fact(kind=kind, subject="Ann", attribute="drink")) == Claim("ann", "drink")


def test_a_profile_atom_claims_its_key() -> None:
    assert claim_of(fact(metadata={"profile_key": "timezone"})) == Claim("profile", "timezone")
    assert claim_of(fact(subject="Ann", metadata={"profile_key": "timezone"})) == Claim("ann", "timezone")


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"subject": "Ann"},
        {"attribute": "city"},
        {"subject": "…", "attribute": "city"},
        {"subject": "Ann", "attribute": "?"},
        {"kind": "preference"},
        {"kind": "event", "subject": "Ann"},
    ],
)
def test_an_incomplete_slot_gives_no_claim(fields: dict[str, str]) -> None:
    assert claim_of(fact(**fields)) is None


def test_some_attributes_allow_several_values() -> None:
    assert not Claim("ann", "pet").is_single_valued
    assert Claim("ann", "city").is_single_valued
    assert all(normal_form(attribute) == attribute for attribute in MULTI_VALUED_ATTRIBUTES)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("city", "home"),
        ("city", "Lives in"),
        ("employer", "works at"),
        ("works for", "employed by"),
        ("job", "occupation"),
        ("boss", "reports to"),
        ("email", "E-Mail"),
        ("phone", "telephone number"),
    ],
)
def test_an_attribute_alias_gives_the_same_claim(one: str, other: str) -> None:
    first, second = claim_of(fact(subject="Ann", attribute=one)), claim_of(fact(subject="Ann", attribute=other))
    assert first is not None
    assert second is not None
    assert first == second
    assert hash(first) == hash(second)
    assert {str(first), str(second)} <= set(first.stored_names) == set(second.stored_names)
    assert first.is_single_valued == second.is_single_valued


@pytest.mark.parametrize(("one", "other"), [("city", "home town"), ("phone", "mobile"), ("city", "address")])
def test_a_similar_attribute_gives_another_claim(one: str, other: str) -> None:
    assert claim_of(fact(subject="Ann", attribute=one)) != claim_of(fact(subject="Ann", attribute=other))


def test_a_claim_is_reported_under_the_name_it_was_given() -> None:
    assert str(claim_of(fact(subject="Ann", attribute="Home"))) == "ann::home"
    assert Claim("ann", "colour").stored_names == ("ann::colour",)


def test_every_alias_is_in_normal_form_and_maps_to_one_attribute() -> None:
    names = [*ATTRIBUTE_SYNONYMS, *(other for others in ATTRIBUTE_SYNONYMS.values() for other in others)]
    assert [normal_form(name) for name in names] == names
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("home", "replaces"),
    [("Porto", True), ("the Netherlands", True), ("a small flat", False), ("Elm Street", False), ("", False)],
)
def test_under_an_alias_only_a_name_replaces_a_name(home: str, replaces: bool) -> None:
    city = fact(subject="Ann", attribute="city", value="Lisbon")
    atom = fact(subject="Ann", attribute="home", value=home)
    assert can_replace(city, atom) == can_replace(atom, city) == replaces
    assert can_replace(city, atom.with_(attribute="City"))


def test_a_multi_valued_attribute_is_multi_valued_under_every_alias() -> None:
    atom = fact(subject="Ann", attribute="home", value="Porto")
    for declared in ("home", "city", "lives in"):
        claim = claim_of(mark_multi_valued(atom, {declared}))
        assert claim is not None
        assert not claim.is_single_valued
    assert mark_multi_valued(atom, {"colour"}) == atom


def test_values_are_compared_in_normal_form() -> None:
    assert comparable_value(fact(value="  LISBON ")) == comparable_value(fact(value="Lisbon")) == "lisbon"


def test_without_a_value_the_content_is_the_value() -> None:
    assert comparable_value(fact()) == "ann lives in lisbon"


def test_values_without_words_stay_distinct() -> None:
    assert comparable_value(fact(value="🍎")) != comparable_value(fact(value="🍊"))
    assert comparable_value(fact(value="🍎")) == comparable_value(fact(value=" 🍎 "))
