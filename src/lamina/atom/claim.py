"""Define claims: the slot that a statement fills. Two active values of a single-valued claim never overlap in valid
time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from lamina.atom.atom import Atom
from lamina.text.normal_form import normal_form, one_line, value_form

MULTI_VALUED_ATTRIBUTES = frozenset(
    {
        "alias",
        "allergies",
        "allergy",
        "aunt",
        "child",
        "client",
        "colleague",
        "cousin",
        "dislike",
        "email",
        "friend",
        "grandchild",
        "hobby",
        "interest",
        "know",
        "language",
        "like",
        "member",
        "neighbour",
        "nephew",
        "niece",
        "owns",
        "pet",
        "phone",
        "project",
        "sibling",
        "skill",
        "student",
        "subscription",
        "tool",
        "uncle",
        "visited",
    }
)
"""Attributes that may have several values at a time."""

ATTRIBUTE_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "city": ("home", "home city", "lives in", "city of residence", "place of residence"),
    "employer": ("works at", "works for", "employed by"),
    "job": ("occupation", "profession", "job title"),
    "manager": ("boss", "line manager", "report to", "reports to"),
    "email": ("e mail", "email address", "e mail address"),
    "phone": ("phone number", "telephone", "telephone number"),
}
"""Other names of attributes, in normal form. Not a home town, which a person may have left; not a mobile, because it
may not be the person's only phone."""
_CANONICAL_ATTRIBUTES = {name: attribute for attribute, names in ATTRIBUTE_SYNONYMS.items() for name in names}
_BUILDING_WORDS = frozenset(
    {"street", "road", "avenue", "lane", "square", "house", "flat", "apartment", "floor", "campus"}
)

MULTI_VALUED_KEY = "several"
"""The metadata key of a statement that may be active beside others of its claim, as declared by it or its attribute."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A subject and an attribute, both in normal form; `given_attribute` is the attribute's name as it was given."""

    subject: str
    attribute: str
    is_multi_valued: bool = field(default=False, compare=False)
    given_attribute: str = field(default="", compare=False)

    @property
    def is_single_valued(self) -> bool:
        """Return whether the claim has at most one value at a time."""
        return not self.is_multi_valued and self.attribute not in MULTI_VALUED_ATTRIBUTES

    @property
    def stored_names(self) -> tuple[str, ...]:
        """Return every name under which a store may have the claim."""
        return tuple(
            f"{self.subject}::{name}" for name in (self.attribute, *ATTRIBUTE_SYNONYMS.get(self.attribute, ()))
        )

    def __str__(self) -> str:
        return f"{self.subject}::{self.given_attribute or self.attribute}"


def claim_of(atom: Atom) -> Claim | None:
    """Return the claim that an atom fills; None without an attribute or profile key, and for an episode.

    What happened is never superseded.
    """
    if atom.is_episode:
        return None
    several = is_one_of_several(atom)
    profile_key = atom.metadata_text("profile_key")
    if profile_key and not atom.attribute:
        return _make_claim(atom.subject or "profile", profile_key, several)
    if atom.attribute:
        return _make_claim(atom.subject, atom.attribute, several)
    return None


def is_one_of_several(atom: Atom) -> bool:
    """Return whether the statement may be active beside others of its claim."""
    return atom.metadata_text(MULTI_VALUED_KEY) == "true"


def mark_multi_valued(atom: Atom, attributes: Collection[str]) -> Atom:
    """Return the statement marked as one of several values if its attribute is in the given collection."""
    if (
        _canonical_attribute(normal_form(atom.attribute or "")) not in map(_canonical_attribute, attributes)
        or MULTI_VALUED_KEY in atom.metadata
    ):
        return atom
    return atom.with_(metadata={**atom.metadata, MULTI_VALUED_KEY: "true"})


def comparable_value(atom: Atom) -> str:
    """Return the atom's value in a form for comparison; its text if it has no value."""
    if atom.value:
        return value_form(atom.value)
    return normal_form(atom.content) or one_line(atom.content)


def can_replace(one: Atom, other: Atom) -> bool:
    """Return whether one statement of a claim may supersede the other.

    If they name the attribute differently, both values must be proper names or neither: a person who lives in a flat
    has not left the city.
    """
    if one.attribute == other.attribute or str(claim_of(one)) == str(claim_of(other)):
        return True
    return _is_proper_name(one.value or "") == _is_proper_name(other.value or "")


def _is_proper_name(value: str) -> bool:
    words = value.split()
    return any(word[:1].isupper() for word in words) and not any(word.lower() in _BUILDING_WORDS for word in words)


def _canonical_attribute(attribute: str) -> str:
    return _CANONICAL_ATTRIBUTES.get(attribute, attribute)


def _make_claim(subject: str, attribute: str, is_multi_valued: bool) -> Claim | None:
    subject_form, attribute_form = normal_form(subject), normal_form(attribute)
    return (
        Claim(subject_form, _canonical_attribute(attribute_form), is_multi_valued, given_attribute=attribute_form)
        if subject_form and attribute_form
        else None
    )
