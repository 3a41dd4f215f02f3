"""Define the record: one typed, timestamped statement, or one verbatim part of a conversation or document."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from lamina.atom.generated_section import GUIDELINES_PAGE, extract_user_text, root_page_name
from lamina.atom.identity import AtomId
from lamina.atom.kinds import Durability, Layer, MemoryKind, MemoryType, kind_traits, memory_kind_of
from lamina.atom.metadata import Metadata, to_text
from lamina.atom.relation import Relation
from lamina.atom.scope import Scope
from lamina.atom.status import Status
from lamina.atom.trust import Origin

CONFIDENCE_TIERS: tuple[tuple[str, float], ...] = (
    ("explicit", 0.95),
    ("implied", 0.70),
    ("inferred", 0.40),
    ("speculative", 0.0),
)
MAX_EVIDENCE = 200
"""The most evidence of one statement: what is said more often gains nothing by another piece."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence that an atom rests on: characters `start` to `end` of one passage of a segment."""

    segment: str
    passage: int
    start: int
    end: int

    def overlaps(self, other: Evidence) -> bool:
        """Return whether both have characters of one passage in common."""
        is_same_passage = (self.segment, self.passage) == (other.segment, other.passage)
        return is_same_passage and self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True)
class Validity:
    """A half-open interval of valid time; None means open."""

    start: datetime | None = None
    end: datetime | None = None

    def covers(self, moment: datetime) -> bool:
        """Return whether a moment is in the interval."""
        return (self.start is None or self.start <= moment) and (self.end is None or moment < self.end)

    def overlaps(self, other: Validity) -> bool:
        """Return whether two intervals have a moment in common."""
        return (
            not self.is_empty
            and not other.is_empty
            and _is_before(self.start, other.end)
            and _is_before(other.start, self.end)
        )

    @property
    def is_empty(self) -> bool:
        """Return whether no moment is in the interval."""
        return not _is_before(self.start, self.end)


def _is_before(start: datetime | None, end: datetime | None) -> bool:
    return start is None or end is None or start < end


@dataclass(frozen=True, slots=True)
class Signals:
    """The counters of an atom's use. They are incremented, not committed; the file shows a snapshot of the first three.

    `uses` are the last times of use, oldest first; `use_days` is the number of days with a use; `successes` and
    `failures` count the answers that used it and were good or wrong.
    """

    quality_score: float = 1.0
    recall_count: int = 0
    last_recalled_at: datetime | None = None
    uses: tuple[datetime, ...] = ()
    first_used_at: datetime | None = None
    use_days: int = 0
    successes: float = 0.0
    failures: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Atom:
    """The smallest independently useful memory. `revision` counts its committed versions, from 1."""

    id: AtomId
    scope: Scope
    kind: str
    content: str
    observed_at: datetime
    subject: str = ""
    attribute: str | None = None
    value: str | None = None
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    recorded_at: datetime | None = None
    source_id: str | None = None
    session_id: str | None = None
    segment_id: str | None = None
    source_ref: str | None = None
    evidence: tuple[Evidence, ...] = ()
    origin: Origin = Origin.HUMAN
    principal: str | None = None
    derived_from: tuple[AtomId, ...] = ()
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    status: Status = Status.ACTIVE
    layer: Layer = Layer.SEMANTIC
    durability: Durability = Durability.STANDARD
    memory_type: MemoryType = MemoryType.FACT
    pinned: bool = False
    resolved: bool = False
    expires_at: datetime | None = None
    run_id: str | None = None
    confidence: float = 1.0
    importance: float = 0.5
    surprise: float | None = None
    valence: float = 0.0
    supersedes: tuple[AtomId, ...] = ()
    superseded_by: tuple[AtomId, ...] = ()
    relations: tuple[Relation, ...] = ()
    episode_id: str | None = None
    box_id: str | None = None
    trace_id: str | None = None
    revision: int = field(default=0, compare=False)

    @property
    def validity(self) -> Validity:
        """Return the interval of valid time."""
        return Validity(self.valid_from, self.valid_until)

    def metadata_text(self, key: str) -> str:
        """Return a value of the metadata as text; empty if there is none."""
        return to_text(self.metadata.get(key, ""))

    @property
    def confidence_tier(self) -> str:
        """Return the name of the tier that the confidence belongs to."""
        return next(name for name, floor in CONFIDENCE_TIERS if self.confidence >= floor)

    @property
    def is_episode(self) -> bool:
        """Return whether it is an episode. Episodes are append-only: never superseded, merged or rewritten."""
        return kind_traits(self.kind).is_episode

    @property
    def memory_kind(self) -> MemoryKind:
        """Return whether its text says what happened (episode) or what is true (note)."""
        return memory_kind_of(self.content, self.kind, self.tags)

    @property
    def default_episode_id(self) -> str | None:
        """Return the id of the episode that it belongs to: the day and the session; None without a session."""
        return f"{self.observed_at:%Y-%m-%d}:{self.session_id}" if self.session_id else None

    @property
    def is_segment(self) -> bool:
        """Return whether it holds verbatim text, with one passage per turn or paragraph."""
        return self.kind == "narrative" and self.segment_id is not None

    @property
    def is_searched(self) -> bool:
        """Return whether recall searches it: not an atom that only lists others, not the guidelines of extraction, and
        not a note of a run.
        """
        if (self.layer is Layer.WORKING and self.run_id) or root_page_name(self.metadata) == GUIDELINES_PAGE:
            return False
        return not kind_traits(self.kind).is_listing and (
            self.kind != "entity" or bool(extract_user_text(self.content))
        )

    def with_(self, **changes: Any) -> Atom:
        """Return the atom with some fields changed."""
        return replace(self, **changes)

    def with_evidence(self, added: Iterable[Evidence], limit: int = MAX_EVIDENCE) -> Atom:
        """Return the atom with more evidence, each place once, while it has less than the limit."""
        new = tuple(item for item in dict.fromkeys(added) if item not in self.evidence)
        free = max(0, limit - len(self.evidence))
        return self.with_(evidence=(*self.evidence, *new[:free])) if new and free else self


DATA_FIELDS: tuple[str, ...] = tuple(definition.name for definition in fields(Atom) if definition.name != "revision")
"""Every field that a commit may set, in the order of the record."""

FIXED_FIELDS = frozenset({"id", "scope", "recorded_at", "origin", "principal"})
"""The fields that are set when the atom is created and never change."""


def kind_defaults(kind: str, confidence: float = 1.0, origin: Origin = Origin.HUMAN) -> dict[str, Any]:
    """Return the initial fields of a kind; the layer is the kind's own only if the speaker stated it, else episodic."""
    kind_of_atom = kind_traits(kind)
    is_stated = confidence >= 0.70 and origin in (Origin.HUMAN, Origin.AGENT)
    return {
        "layer": kind_of_atom.layer if is_stated else Layer.EPISODIC,
        "durability": kind_of_atom.durability,
        "memory_type": kind_of_atom.memory_type,
    }
