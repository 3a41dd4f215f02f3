"""Claims: the slot a fact fills. Two active values of a single-valued claim never overlap in valid time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from lamina.atom.atom import Atom
from lamina.text.normal import normal_form, one_line, value_form

SELF_CLAIMING_KINDS = frozenset({"preference", "habit"})
"""Without an attribute these claim `subject::kind`."""

MULTI_VALUED = frozenset({
    "alias", "allergies", "allergy", "aunt", "child", "client", "colleague", "cousin", "dislike", "email", "friend",
    "grandchild", "hobby", "interest", "know", "language", "like", "member", "neighbour", "nephew", "niece", "owns",
    "pet", "phone", "project", "sibling", "skill", "student", "subscription", "tool", "uncle", "visited",
})  # fmt: skip
"""Attributes of which a subject may have several values at once."""

SEVERAL = "several"
"""Metadata of a statement that stands beside others of its claim: it was said to, or its attribute was declared so."""


@dataclass(frozen=True, slots=True)
class Claim:
    """(subject, attribute), both in normal form."""

    subject: str
    attribute: str
    several: bool = field(default=False, compare=False)

    @property
    def single_valued(self) -> bool:
        return not self.several and self.attribute not in MULTI_VALUED

    def __str__(self) -> str:
        return f"{self.subject}::{self.attribute}"


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
    if normal_form(atom.attribute or "") not in attributes or SEVERAL in atom.metadata:
        return atom
    return atom.with_(metadata={**atom.metadata, SEVERAL: "true"})


def value_of(atom: Atom) -> str:
    """What the atom puts into its claim, so that it can be compared: its value, or its words where it names none."""
    if atom.value:
        return value_form(atom.value)
    return normal_form(atom.content) or one_line(atom.content)


def _claim(subject: str, attribute: str, several: bool) -> Claim | None:
    one, other = normal_form(subject), normal_form(attribute)
    return Claim(one, other, several) if one and other else None
