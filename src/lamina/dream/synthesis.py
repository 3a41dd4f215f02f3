"""A synthesis: one statement that summarises several and cites each of them. It supersedes none of them.

A current synthesis is kept; one whose sources changed is ended, and one that a person rejected is not written again.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lamina.atom.atom import Atom, AtomId, kind_defaults
from lamina.atom.kinds import kind_traits
from lamina.atom.provenance import SOURCES_KEY, Origin, Scope, sources_digest
from lamina.atom.status import ENDED, RECALL_WEIGHT, Status
from lamina.dream.dream import VERB
from lamina.dream.step import StepContext
from lamina.store.commit_rules import find_refusal_reason
from lamina.text.normal_form import name_form, normal_form, shorten_line

KIND = "synthesis"
MAX_CITED = 200
"""The most statements that are cited; of a larger cluster the most central."""
MAX_LINES, LINE_CHARS = 12, 400
MAX_LABELS = 24
"""The most tags and entities that are taken over, the most frequent first."""


class ThemeBasis(StrEnum):
    """A basis on which statements form a theme: their meaning, or their subject."""

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
    stored = atom.metadata_text("at_count")
    return int(stored) if stored.isascii() and stored.isdigit() else 0


def distinct_statements(members: Sequence[Atom]) -> list[Atom]:
    """Return the members without repeated texts, in order."""
    return list({normal_form(member.content): member for member in reversed(members)}.values())[::-1]


def quote_members(members: Sequence[Atom]) -> str:
    """Return the members' own texts, each with its id."""
    first, *others = distinct_statements(members)[:MAX_LINES]
    return "\n".join([_cited_line(first), *(f"- {_cited_line(other)}" for other in others)])


def _cited_line(atom: Atom) -> str:
    return f"{shorten_line(atom.content, LINE_CHARS)} [{atom.id}]"


def _most_common(lists: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    counts = Counter(label for labels in lists for label in dict.fromkeys(labels))
    return tuple(label for label, _ in counts.most_common(MAX_LABELS))


_MACHINE_VERBS = frozenset({VERB, "entity"})
"""Verbs that end a synthesis without a person's decision."""


class ExistingSyntheses:
    """The syntheses of one scope as they are when a step begins."""

    def __init__(self, context: StepContext) -> None:
        self._store, self._now = context.store, context.now
        syntheses = sorted(filter(basis_of, context.read(kinds=frozenset({KIND}))), key=_live_first)
        self._live = [synthesis for synthesis in syntheses if synthesis.status not in ENDED]
        sources = context.read(ids=tuple({source for synthesis in self._live for source in synthesis.derived_from}))
        self._sources = {atom.id: atom for atom in sources if self._is_countable(atom)}
        self._by_subject: dict[str, list[Atom]] = defaultdict(list)
        self._by_source: dict[AtomId, list[Atom]] = defaultdict(list)
        for synthesis in syntheses:
            if basis_of(synthesis) is ThemeBasis.SUBJECT:
                self._by_subject[name_form(synthesis.subject)].append(synthesis)
            else:
                for source in synthesis.derived_from:
                    self._by_source[source].append(synthesis)

    def covers(self, theme: Theme) -> bool:
        """Return whether a theme needs no synthesis: a current one covers it, or a person rejected it."""
        sources = sources_digest(theme.members)
        return any(
            self._settles(synthesis, theme.threshold, sources)
            for synthesis in self._related(theme)
            if _is_about(synthesis, theme)
        )

    def covers_subject(self, subject: str, count: int) -> bool:
        """Return the same for a subject, before its synthesis is built."""
        return any(self._settles(synthesis, count) for synthesis in self._by_subject.get(name_form(subject), ()))

    def replaced_by(self, theme: Theme) -> list[Atom]:
        """Return the syntheses that the theme's synthesis would supersede."""
        live = (synthesis for synthesis in self._related(theme) if synthesis.status not in ENDED)
        return [synthesis for synthesis in live if _is_covered(synthesis, theme) and self._may_change(synthesis)]

    def stale(self) -> list[Atom]:
        """Return the syntheses whose sources changed and that a dream may end."""
        return [synthesis for synthesis in self._live if not self.is_current(synthesis) and self._may_change(synthesis)]

    def is_current(self, synthesis: Atom) -> bool:
        """Return whether every source still counts and has the same content."""
        sources = [self._sources[source_id] for source_id in synthesis.derived_from if source_id in self._sources]
        is_complete = 0 < len(sources) == len(synthesis.derived_from)
        return is_complete and sources_digest(sources) == synthesis.metadata.get(SOURCES_KEY)

    def _is_countable(self, source: Atom) -> bool:
        return source.status in RECALL_WEIGHT and source.validity.covers(self._now)

    def _may_change(self, synthesis: Atom) -> bool:
        """Return whether no origin other than a dream has edited it."""
        if synthesis.pinned:
            return False
        return find_refusal_reason(synthesis.with_(status=Status.TOMBSTONED), Origin.DREAM, self._store.atoms) is None

    def _settles(self, synthesis: Atom, count: int, sources: str | None = None) -> bool:
        """Return whether a synthesis leaves nothing to do for its theme at this threshold.

        One that was undone only settles the same statements.
        """
        if synthesis.status in ENDED:
            last = self._store.journal.versions(synthesis.id)[-1].verb
            return synthesis.metadata.get(SOURCES_KEY) == sources if last == "undo" else last not in _MACHINE_VERBS
        return (threshold_of(synthesis) >= count and self.is_current(synthesis)) or not self._may_change(synthesis)

    def _related(self, theme: Theme) -> list[Atom]:
        """Return the syntheses with the same subject or a common source, ended ones included."""
        if theme.basis is ThemeBasis.SUBJECT:
            return self._by_subject.get(name_form(theme.subject), [])
        by_id = {
            synthesis.id: synthesis for member in theme.members for synthesis in self._by_source.get(member.id, ())
        }
        return sorted(by_id.values(), key=_live_first)


def _live_first(synthesis: Atom) -> tuple[bool, AtomId]:
    """Return a sort key with live ones first: they usually decide, and then no history is read."""
    return synthesis.status in ENDED, synthesis.id


def _is_about(synthesis: Atom, theme: Theme) -> bool:
    return theme.basis is ThemeBasis.SUBJECT or _is_majority(theme.ids, synthesis.derived_from)


def _is_covered(synthesis: Atom, theme: Theme) -> bool:
    return theme.basis is ThemeBasis.SUBJECT or _is_majority(synthesis.derived_from, theme.ids)


def _is_majority(part: Collection[AtomId], whole: Collection[AtomId]) -> bool:
    """Return whether more than half of the first are in the second."""
    return 2 * len(set(part) & set(whole)) > len(part)
