"""Claims: the slot a fact fills. Two active values of a single-valued claim never overlap in valid time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from lamina.atom.atom import Atom
from lamina.text.normal import normal_form, one_line, value_form

SELF_CLAIMING_KINDS = frozenset({"preference", "habit"})
"""Without an attribute these claim `subject::kind`."""

MULTI_VALUED = frozenset(
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
"""Attributes of which a subject may have several values at once."""

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "city": ("home", "home city", "lives in", "city of residence", "place of residence"),
    "employer": ("works at", "works for", "employed by"),
    "job": ("occupation", "profession", "job title"),
    "manager": ("boss", "line manager", "report to", "reports to"),
    "email": ("e mail", "email address", "e mail address"),
    "phone": ("phone number", "telephone", "telephone number"),
}
"""Attributes that go by other names, in normal form. A home town is none: one may have left it. Nor is a mobile: it is
not the only phone somebody has."""
_ATTRIBUTES = {name: attribute for attribute, names in SYNONYMS.items() for name in names}
_ROOFS = frozenset({"street", "road", "avenue", "lane", "square", "house", "flat", "apartment", "floor", "campus"})

SEVERAL = "several"
"""Metadata of a statement that stands beside others of its claim: it was said to, or its attribute was declared so."""


@dataclass(frozen=True, slots=True)
class Claim:
    """(subject, attribute), both in normal form; `called` is the name the attribute was given."""

    subject: str
    attribute: str
    several: bool = field(default=False, compare=False)
    called: str = field(default="", compare=False)

    @property
    def single_valued(self) -> bool:
        return not self.several and self.attribute not in MULTI_VALUED

    @property
    def names(self) -> tuple[str, ...]:
        """Every name under which a store may have the claim."""
        return tuple(f"{self.subject}::{each}" for each in (self.attribute, *SYNONYMS.get(self.attribute, ())))

    def __str__(self) -> str:
        return f"{self.subject}::{self.called or self.attribute}"


def claim_of(atom: Atom) -> Claim | None:
    """The slot an atom fills, if it fills one. An episode fills none: what happened is never superseded."""
    if atom.is_episode:
        return None
    several = atom.metadata.get(SEVERAL) == "true"
    profile_key = atom.metadata.get("profile_key")
    if profile_key and not atom.attribute:
        return _claim(atom.subject or "profile", profile_key, several)
    if atom.attribute:
        return _claim(atom.subject, atom.attribute, several)
    if atom.kind in SELF_CLAIMING_KINDS:
        return _claim(atom.subject, atom.kind, several)
    return None


def beside_others(atom: Atom, attributes: Collection[str]) -> Atom:
    """The statement as one of several of its claim, where its attribute is among those declared so."""
    if _known_as(normal_form(atom.attribute or "")) not in map(_known_as, attributes) or SEVERAL in atom.metadata:
        return atom
    return atom.with_(metadata={**atom.metadata, SEVERAL: "true"})


def value_of(atom: Atom) -> str:
    """What the atom puts into its claim, so that it can be compared: its value, or its words where it names none."""
    if atom.value:
        return value_form(atom.value)
    return normal_form(atom.content) or one_line(atom.content)


def may_replace(one: Atom, other: Atom) -> bool:
    """Whether two statements of a claim may stand in each other's place.

    Where the attribute goes by two names, both values have to be names or neither: who lives in a flat has not left
    the city.
    """
    if one.attribute == other.attribute or str(claim_of(one)) == str(claim_of(other)):
        return True
    return _is_name(one.value or "") == _is_name(other.value or "")


def _is_name(value: str) -> bool:
    words = value.split()
    return any(word[:1].isupper() for word in words) and not any(word.lower() in _ROOFS for word in words)


def _known_as(attribute: str) -> str:
    return _ATTRIBUTES.get(attribute, attribute)


def _claim(subject: str, attribute: str, several: bool) -> Claim | None:
    one, other = normal_form(subject), normal_form(attribute)
    return Claim(one, _known_as(other), several, called=other) if one and other else None
