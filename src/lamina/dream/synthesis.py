"""A synthesis: one statement that summarises several and cites each of them. It supersedes none of them."""

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
"""The most statements that are cited; of a larger cluster the most central."""
LINES, LINE_CHARS = 12, 400
LABELS = 24
"""The most tags and entities that are taken over, the most frequent first."""


class MadeOf(StrEnum):
    """What the statements have in common: their meaning, or their subject."""

    CLUSTER = "cluster"
    SUBJECT = "subject"


@dataclass(frozen=True, slots=True)
class Theme:
    """Statements to summarise, the most relevant first. `threshold`: the highest size threshold they reach."""

    made_of: MadeOf
    members: tuple[Atom, ...]
    at_count: int
    subject: str

    @property
    def ids(self) -> frozenset[AtomId]:
        return frozenset(member.id for member in self.members)


def to_synthesis(theme: Theme, words: str, scope: Scope, atom_id: AtomId) -> Atom:
    """Build the synthesis of a theme: with the members' mean confidence and their highest importance."""
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
    """Return what a synthesis is based on; None for atoms that no dream synthesised."""
    if atom.kind != KIND or atom.origin is not Origin.DREAM:
        return None
    return next((basis for basis in MadeOf if basis == atom.metadata.get("made_of")), None)


def at_count(atom: Atom) -> int:
    """Return the size threshold at which a synthesis was made."""
    stored = atom.metadata.get("at_count", "")
    return int(stored) if stored.isascii() and stored.isdigit() else 0


def distinct(members: Sequence[Atom]) -> list[Atom]:
    """Return the members without repeated texts, in order."""
    return list({normal_form(member.content): member for member in reversed(members)}.values())[::-1]


def extract(members: Sequence[Atom]) -> str:
    """Return the members' own texts, each with its id."""
    first, *others = distinct(members)[:LINES]
    return "\n".join([_cited(first), *(f"- {_cited(other)}" for other in others)])


def _cited(atom: Atom) -> str:
    words = one_line(atom.content)
    if len(words) > LINE_CHARS:
        words = f"{words[: LINE_CHARS - 1].rstrip()}…"
    return f"{words} [{atom.id}]"


def _commonest(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    counts = Counter(label for labels in lists for label in dict.fromkeys(labels))
    return tuple(label for label, _ in counts.most_common(LABELS))
