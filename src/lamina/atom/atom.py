"""Define the record (one typed, timestamped statement, or one verbatim part of a conversation), its id and relations.

A text may be partly generated and partly written by people: the generated section is between two marker lines.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, NewType

from lamina.atom.kinds import Durability, Layer, MemoryKind, MemoryType, kind_traits, memory_kind_of
from lamina.atom.metadata import Metadata, to_text
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import Status

AtomId = NewType("AtomId", str)

_ID_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
_ID_SHAPE = re.compile(r"[0-7][0-9a-hjkmnp-tv-z]{25}")
_RANDOM_BITS = 80
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_atom_id(text: str) -> bool:
    """Return whether the text has the shape of lamina's ids; foreign ids are stored as `source_ref`."""
    return _ID_SHAPE.fullmatch(text) is not None


class IdSource:
    """Creates ids that sort by time, also within one millisecond; the random source is passed in for tests."""

    def __init__(self, randbytes: Callable[[int], bytes]) -> None:
        self._randbytes = randbytes
        self._last = 0
        self._last_millis = 0
        self._lock = threading.Lock()

    def new(self, at: datetime) -> AtomId:
        """Return a new id for a time; it sorts after all ids this source created for earlier times."""
        millis = max(0, (at - _EPOCH) // timedelta(milliseconds=1))
        number = (millis << _RANDOM_BITS) | int.from_bytes(self._randbytes(10), "big")
        with self._lock:
            if millis >= self._last_millis:
                number = max(number, self._last + 1)
            self._last, self._last_millis = number, millis
        return AtomId(_encode(number))


def _encode(number: int) -> str:
    return "".join(_ID_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))


class RelationName(StrEnum):
    """A name of what one atom is to another."""

    CONTRADICTS = "contradicts"
    SUPPORTS = "supports"
    SUPERSEDES = "supersedes"
    CAUSED_BY = "caused_by"
    DEPENDS_ON = "depends_on"
    PART_OF = "part_of"
    IMPLEMENTS = "implements"
    ENRICHES = "enriches"
    LEADS_TO = "leads_to"


@dataclass(frozen=True, slots=True)
class Relation:
    """A link to another atom, as strong as its confidence."""

    name: RelationName
    target: AtomId
    confidence: float = 1.0
    last_reinforced_at: datetime | None = None


SECTION_BEGIN, SECTION_END = "<!-- lamina: begin -->", "<!-- lamina: end -->"
PROFILE_PAGE, IDENTITY_PAGE, TOPICS_PAGE, GUIDELINES_PAGE = "profile", "identity", "topics", "guidelines"
PAGE_KEY = "page"
"""The metadata key of a page that a scope has only once, at the root of its folder."""
_ROOT_PAGES = frozenset({PROFILE_PAGE, IDENTITY_PAGE, TOPICS_PAGE, GUIDELINES_PAGE})


def root_page_name(metadata: Metadata) -> str | None:
    """Return the name of the root page that the metadata describes; None for any other atom."""
    name = metadata.get(PAGE_KEY)
    return name if name in _ROOT_PAGES else None


def extract_user_text(content: str) -> str:
    """Return the text that people wrote: everything outside the generated section."""
    before, begin, rest = content.partition(SECTION_BEGIN)
    _, end, after = rest.partition(SECTION_END)
    return f"{before}{after}".strip() if begin and end else content.strip()


def has_generated_section(content: str) -> bool:
    """Return whether a text has a generated section."""
    begin = content.find(SECTION_BEGIN)
    return begin >= 0 and content.find(SECTION_END, begin) >= 0


def replace_generated_section(content: str, generated: str) -> str:
    """Return the text with its generated section replaced; a text without one gets it at its end.

    Markers inside the generated text are escaped, so that they cannot end the section: generated text never becomes
    user text.
    """
    inner = generated.replace("<!--", "<! --").strip()
    section = f"{SECTION_BEGIN}\n{inner}\n{SECTION_END}"
    if not has_generated_section(content):
        return f"{content.rstrip()}\n\n{section}".lstrip()
    before, _, rest = content.partition(SECTION_BEGIN)
    return f"{before}{section}{rest.partition(SECTION_END)[2]}"


def extract_generated_section(content: str) -> str:
    """Return the text between the markers."""
    return (
        content.partition(SECTION_BEGIN)[2].partition(SECTION_END)[0].strip() if has_generated_section(content) else ""
    )


def change_generated_section(content: str, change: Callable[[str], str]) -> str:
    """Return the text with the lines between its markers changed; user text stays as it is."""
    if not has_generated_section(content):
        return content
    before, begin, rest = content.partition(SECTION_BEGIN)
    generated, end, after = rest.partition(SECTION_END)
    return f"{before}{begin}{change(generated)}{end}{after}"


def append_user_text(content: str, text: str) -> str:
    """Return the content with user text added at its end, unless it contains that text."""
    return content if text.strip() in extract_user_text(content) else f"{content.rstrip()}\n\n{text.strip()}"


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


class EffectiveStatus(StrEnum):
    """The status that a statement has at a time."""

    CURRENT = "current"
    FUTURE = "ahead"
    ENDED = "over"
    WRONG = "wrong"
    WITHDRAWN = "taken back"
    DISPUTED = "doubted"
    PENDING = "held"


_BY_STATUS = {
    Status.INVALIDATED: EffectiveStatus.WRONG,
    Status.TOMBSTONED: EffectiveStatus.WITHDRAWN,
    Status.CHALLENGED: EffectiveStatus.DISPUTED,
    Status.CONSTRAINED: EffectiveStatus.PENDING,
}


def effective_from(atom: Atom) -> datetime:
    """Return the start of a statement's valid time: as it says, or else when it was observed."""
    return atom.valid_from or atom.observed_at


def effective_status_at(atom: Atom, at: datetime) -> EffectiveStatus:
    """Return the effective status of a statement at a time; a superseded one was current until it was superseded."""
    if atom.status in _BY_STATUS:
        return _BY_STATUS[atom.status]
    if at < effective_from(atom):
        return EffectiveStatus.FUTURE
    is_replaced = atom.status in (Status.SUPERSEDED, Status.MERGED) and atom.valid_until is None
    if is_replaced or (atom.valid_until is not None and atom.valid_until <= at):
        return EffectiveStatus.ENDED
    return EffectiveStatus.CURRENT
