"""A synthesis: one statement that summarises several and cites each of them. It supersedes none of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.identity import AtomId
from lamina.atom.kinds import kind_traits
from lamina.atom.scope import Scope
from lamina.atom.summary_sources import SOURCES_KEY, sources_digest
from lamina.atom.trust import Origin
from lamina.text.normal_form import normal_form, one_line

KIND = "synthesis"
MAX_CITED = 200
"""The most statements that are cited; of a larger cluster the most central."""
MAX_LINES, LINE_CHARS = 12, 400
MAX_LABELS = 24
"""The most tags and entities that are taken over, the most frequent first."""


class ThemeBasis(StrEnum):
    """What the statements have in common: their meaning, or their subject."""

    CLUSTER = "cluster"
    SUBJECT = "subject"


@dataclass(frozen=True, slots=True)
class Theme:
    """Statements to summarise, the most relevant first. `threshold`: the highest size threshold they reach."""

    basis: ThemeBasis
    members: tuple[Atom, ...]
    threshold: int
    subject: str

    @property
    def ids(self) -> frozenset[AtomId]:
        return frozenset(member.id for member in self.members)


def build_synthesis(theme: Theme, text: str, scope: Scope, atom_id: AtomId) -> Atom:
    """Build the synthesis of a theme: with the members' mean confidence and their highest importance."""
    members = theme.members
    return Atom(
        id=atom_id,
        scope=scope,
        kind=KIND,
        content=text,
        observed_at=max(member.observed_at for member in members),
        subject=theme.subject,
        origin=Origin.DREAM,
        derived_from=tuple(member.id for member in members),
        tags=_most_common(member.tags for member in members),
        entities=_most_common(member.entities for member in members),
        agents=_most_common(member.agents for member in members),
        importance=max(member.importance for member in members),
        confidence=round(sum(member.confidence for member in members) / len(members), 3),
        metadata={
            "origin": "consolidation",
            "made_of": theme.basis.value,
            "at_count": str(theme.threshold),
            SOURCES_KEY: sources_digest(members),
        },
        **{**kind_defaults(KIND), "layer": kind_traits(KIND).layer},
    )


def basis_of(atom: Atom) -> ThemeBasis | None:
    """Return what a synthesis is based on; None for atoms that no dream synthesised."""
    if atom.kind != KIND or atom.origin is not Origin.DREAM:
        return None
    return next((basis for basis in ThemeBasis if basis == atom.metadata.get("made_of")), None)


def threshold_of(atom: Atom) -> int:
    """Return the size threshold at which a synthesis was made."""
    stored = atom.metadata.get("at_count", "")
    return int(stored) if stored.isascii() and stored.isdigit() else 0


def distinct_statements(members: Sequence[Atom]) -> list[Atom]:
    """Return the members without repeated texts, in order."""
    return list({normal_form(member.content): member for member in reversed(members)}.values())[::-1]


def quote_members(members: Sequence[Atom]) -> str:
    """Return the members' own texts, each with its id."""
    first, *others = distinct_statements(members)[:MAX_LINES]
    return "\n".join([_cited_line(first), *(f"- {_cited_line(other)}" for other in others)])


def _cited_line(atom: Atom) -> str:
    words = one_line(atom.content)
    if len(words) > LINE_CHARS:
        words = f"{words[: LINE_CHARS - 1].rstrip()}…"
    return f"{words} [{atom.id}]"


def _most_common(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    counts = Counter(label for labels in lists for label in dict.fromkeys(labels))
    return tuple(label for label, _ in counts.most_common(MAX_LABELS))
