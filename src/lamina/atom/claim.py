"""Claims: the slot a fact fills. Two active values of a single-valued claim never overlap in valid time."""

from __future__ import annotations

from dataclasses import dataclass

from lamina.atom.atom import Atom
from lamina.text.normal import normal_form, one_line, value_form

SELF_CLAIMING_KINDS = frozenset({"preference", "habit"})
"""Without an attribute these claim `subject::kind`."""

MULTI_VALUED = frozenset({
    "alias", "allergy", "child", "colleague", "email", "friend", "hobby", "interest", "language", "like", "dislike",
    "member", "owns", "pet", "phone", "project", "sibling", "skill", "tool", "visited",
})  # fmt: skip
"""Attributes of which a subject may have several values at once."""


@dataclass(frozen=True, slots=True)
class Claim:
    """(subject, attribute), both in normal form."""

    subject: str
    attribute: str

    @property
    def single_valued(self) -> bool:
        return self.attribute not in MULTI_VALUED

    def __str__(self) -> str:
        return f"{self.subject}::{self.attribute}"


def claim_of(atom: Atom) -> Claim | None:
    """The slot an atom fills, if it fills one. An episode fills none: what happened is never superseded."""
    if atom.is_episode:
        return None
    profile_key = atom.metadata.get("profile_key")
    if profile_key and not atom.attribute:
        return _claim(atom.subject or "profile", profile_key)
    if atom.attribute:
        return _claim(atom.subject, atom.attribute)
    if atom.kind in SELF_CLAIMING_KINDS:
        return _claim(atom.subject, atom.kind)
    return None


def value_of(atom: Atom) -> str:
    """What the atom puts into its claim, so that it can be compared: its value, or its words where it names none."""
    if atom.value:
        return value_form(atom.value)
    return normal_form(atom.content) or one_line(atom.content)


def _claim(subject: str, attribute: str) -> Claim | None:
    one, other = normal_form(subject), normal_form(attribute)
    return Claim(one, other) if one and other else None
