"""Claims: the slot a fact fills."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from lamina.atom import Atom, AtomId, Claim, Scope, claim_of
from lamina.atom.claim import (
    ATTRIBUTE_SYNONYMS,
    MULTI_VALUED_ATTRIBUTES,
    can_replace,
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


def test_two_spellings_of_a_slot_are_one_claim() -> None:
    assert claim_of(fact(subject=" ANN  Lee", attribute="Home-City")) == claim_of(
        fact(subject="Ann Lee", attribute="home city")
    )


@pytest.mark.parametrize("subject", ["安", "Аня", "آن", "แอน"])
def test_a_subject_of_any_script_has_its_own_claim(subject: str) -> None:
    assert claim_of(fact(subject=subject, attribute="city")) == Claim(normal_form(subject), "city")


@pytest.mark.parametrize("kind", ["preference", "habit"])
def test_preferences_and_habits_claim_their_kind(kind: str) -> None:
    assert claim_of(fact(kind=kind, subject="Ann")) == Claim("ann", kind)
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
def test_without_a_whole_slot_nothing_is_claimed(fields: dict[str, str]) -> None:
    assert claim_of(fact(**fields)) is None


def test_some_attributes_hold_several_values_at_once() -> None:
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
def test_an_attribute_by_another_name_is_the_same_claim(one: str, other: str) -> None:
    first, second = claim_of(fact(subject="Ann", attribute=one)), claim_of(fact(subject="Ann", attribute=other))
    assert first is not None
    assert second is not None
    assert first == second
    assert hash(first) == hash(second)
    assert {str(first), str(second)} <= set(first.stored_names) == set(second.stored_names)
    assert first.is_single_valued == second.is_single_valued


@pytest.mark.parametrize(("one", "other"), [("city", "home town"), ("phone", "mobile"), ("city", "address")])
def test_what_is_only_like_it_is_another_claim(one: str, other: str) -> None:
    assert claim_of(fact(subject="Ann", attribute=one)) != claim_of(fact(subject="Ann", attribute=other))


def test_a_claim_is_told_by_the_name_it_was_given() -> None:
    assert str(claim_of(fact(subject="Ann", attribute="Home"))) == "ann::home"
    assert Claim("ann", "colour").stored_names == ("ann::colour",)


def test_every_name_is_in_normal_form_and_stands_for_one_attribute() -> None:
    names = [*ATTRIBUTE_SYNONYMS, *(other for others in ATTRIBUTE_SYNONYMS.values() for other in others)]
    assert [normal_form(name) for name in names] == names
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("home", "replaces"),
    [("Porto", True), ("the Netherlands", True), ("a small flat", False), ("Elm Street", False), ("", False)],
)
def test_by_another_name_only_a_name_replaces_a_name(home: str, replaces: bool) -> None:
    city = fact(subject="Ann", attribute="city", value="Lisbon")
    told = fact(subject="Ann", attribute="home", value=home)
    assert can_replace(city, told) == can_replace(told, city) == replaces
    assert can_replace(city, told.with_(attribute="City"))


def test_an_attribute_declared_to_have_several_values_has_them_by_any_name() -> None:
    told = fact(subject="Ann", attribute="home", value="Porto")
    for declared in ("home", "city", "lives in"):
        claim = claim_of(mark_multi_valued(told, {declared}))
        assert claim is not None
        assert not claim.is_single_valued
    assert mark_multi_valued(told, {"colour"}) == told


def test_a_value_is_compared_in_normal_form() -> None:
    assert comparable_value(fact(value="  LISBON ")) == comparable_value(fact(value="Lisbon")) == "lisbon"


def test_without_a_value_the_words_are_the_value() -> None:
    assert comparable_value(fact()) == "ann lives in lisbon"


def test_values_without_words_stay_apart() -> None:
    assert comparable_value(fact(value="🍎")) != comparable_value(fact(value="🍊"))
    assert comparable_value(fact(value="🍎")) == comparable_value(fact(value=" 🍎 "))
