"""A synthesis: several statements told in one that cites each of them. It takes nobody's place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.identity import AtomId
from lamina.atom.kinds import traits
from lamina.atom.scope import Scope
from lamina.atom.sources import SOURCES, sources_form
from lamina.atom.trust import Origin
from lamina.text.normal import normal_form, one_line

KIND = "synthesis"
CITED = 200
"""So many statements are cited at most; of a larger cluster the most central."""
LINES, LINE_CHARS = 12, 400
LABELS = 24
"""So many tags and entities are taken over, the commonest first."""


class MadeOf(StrEnum):
    """What the statements have in common: their meaning, or what they are about."""

    CLUSTER = "cluster"
    SUBJECT = "subject"


@dataclass(frozen=True, slots=True)
class Theme:
    """Statements to be told in one, the most telling first. `at_count`: which rung of a ladder their number reaches."""

    made_of: MadeOf
    members: tuple[Atom, ...]
    at_count: int
    subject: str

    @property
    def ids(self) -> frozenset[AtomId]:
        return frozenset(member.id for member in self.members)


def to_synthesis(theme: Theme, words: str, scope: Scope, atom_id: AtomId) -> Atom:
    """The theme as an atom, as sure as its members are on the whole and as important as the most important."""
    members = theme.members
    return Atom(
        id=atom_id,
        scope=scope,
        kind=KIND,
        content=words,
        observed_at=max(member.observed_at for member in members),
        subject=theme.subject,
        origin=Origin.DREAM,
        derived_from=tuple(member.id for member in members),
        tags=_commonest(member.tags for member in members),
        entities=_commonest(member.entities for member in members),
        agents=_commonest(member.agents for member in members),
        importance=max(member.importance for member in members),
        confidence=round(sum(member.confidence for member in members) / len(members), 3),
        metadata={
            "origin": "consolidation",
            "made_of": theme.made_of.value,
            "at_count": str(theme.at_count),
            SOURCES: sources_form(members),
        },
        **{**kind_defaults(KIND), "layer": traits(KIND).layer},
    )


def made_of(atom: Atom) -> MadeOf | None:
    """What a synthesis was made of; None for whatever a dream did not make so."""
    if atom.kind != KIND or atom.origin is not Origin.DREAM:
        return None
    return next((each for each in MadeOf if each == atom.metadata.get("made_of")), None)


def at_count(atom: Atom) -> int:
    """On which rung of the ladder a synthesis was made."""
    told = atom.metadata.get("at_count", "")
    return int(told) if told.isascii() and told.isdigit() else 0


def distinct(members: Sequence[Atom]) -> list[Atom]:
    """The members that say it in words of their own, in order."""
    return list({normal_form(member.content): member for member in reversed(members)}.values())[::-1]


def extract(members: Sequence[Atom]) -> str:
    """The members' own words, the first one's first, each with the id of whoever says so."""
    first, *others = distinct(members)[:LINES]
    return "\n".join([_cited(first), *(f"- {_cited(other)}" for other in others)])


def _cited(atom: Atom) -> str:
    words = one_line(atom.content)
    if len(words) > LINE_CHARS:
        words = f"{words[: LINE_CHARS - 1].rstrip()}…"
    return f"{words} [{atom.id}]"


def _commonest(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    counted = Counter(fromkey for one in lists for fromkey in dict.fromkeys(one))
    return tuple(each for each, _ in counted.most_common(LABELS))
