"""JSON documents that only the HTTP API returns: pages of lists, upkeep reports and working memory."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from lamina.documents.atom import AtomDocument, CountersDocument, NeighbourDocument, StandingDocument
from lamina.documents.journal import EntryDocument, TransitionDocument
from lamina.documents.json_document import JsonDocument, UtcTime
from lamina.documents.pending_items import GroupDocument, InboxItemDocument, PairDocument
from lamina.documents.recall import HitDocument
from lamina.documents.receipt import ReceiptDocument
from lamina.documents.stats import JobDocument, ProblemDocument

NextOffset = Annotated[int | None, Field(description="The offset of the next page; null if this is the last.")]


class AtomsDocument(JsonDocument):
    """A page of atoms, newest first."""

    atoms: list[AtomDocument]
    more: bool
    next: NextOffset


class AtomDetailDocument(CountersDocument):
    """One atom, the text it rests on, what use has taught, and how many independent sources confirm it."""

    atom: AtomDocument
    quotes: list[dict[str, str | int]]
    confirmations: int
    standing: StandingDocument


class JournalDocument(JsonDocument):
    """A page of commits, oldest first."""

    entries: list[EntryDocument]
    more: bool
    next: Annotated[int, Field(description="The position to continue from.")]


class TransitionsDocument(JsonDocument):
    """An atom's status changes, oldest first."""

    id: str
    transitions: list[TransitionDocument]


class NeighboursDocument(JsonDocument):
    """The atoms linked to or from one."""

    id: str
    neighbours: list[NeighbourDocument]


class SignalsDocument(JsonDocument):
    """An atom's usage counters and feedback."""

    id: str
    quality_score: float
    recall_count: int
    last_recalled_at: UtcTime | None
    use_days: int
    successes: float
    failures: float


class TopDocument(JsonDocument):
    """The core memories."""

    atoms: list[AtomDocument]


class PlanDocument(JsonDocument):
    """The memories a planner needs for a goal, as hits and as fenced text."""

    goal: str
    profile: list[HitDocument]
    procedural: list[HitDocument]
    semantic: list[HitDocument]
    context: str


class ContextDocument(JsonDocument):
    """Context for the start of a session: fenced text, and the atoms in it."""

    context: str
    known: bool
    about: str | None
    atoms: list[str]


class TopicDocument(JsonDocument):
    """A topic, its number of statements, and when the newest was observed."""

    name: str
    count: int
    newest: UtcTime


class TopicsDocument(JsonDocument):
    """The most frequent topics."""

    topics: list[TopicDocument]


class UpdatedSignalsDocument(JsonDocument):
    """The atoms whose signals changed."""

    ids: list[str]


class ReviewListDocument(JsonDocument):
    """A page of pending items."""

    waiting: int
    items: list[InboxItemDocument]
    more: bool
    next: NextOffset


class PairsDocument(JsonDocument):
    """Every pair that is pending review."""

    pairs: list[PairDocument]


class DecisionsDocument(JsonDocument):
    """The receipts of review decisions."""

    decisions: list[ReceiptDocument]


class GroupsDocument(JsonDocument):
    """Groups of statements that could be merged, and the commit that proposed them."""

    commit: str | None
    groups: list[GroupDocument]


class JobsDocument(JsonDocument):
    """Background jobs, and how many passages are waiting for extraction."""

    jobs: list[JobDocument]
    waiting: int


class SyncDocument(JsonDocument):
    """The result of a sync of the files."""

    edited: list[str]
    adopted: list[str]
    moved: list[str]
    deleted: list[str]
    held: list[str]
    unreadable: list[str]
    written: int


class DoctorDocument(JsonDocument):
    """Problems, faults and notes about a vault."""

    healthy: bool
    problems: list[ProblemDocument]
    faults: list[str]
    notes: list[str]


class RebuildDocument(JsonDocument):
    """The number of atoms in the rebuilt index."""

    atoms: int


class ExportDocument(JsonDocument):
    """The path of an export inside the vault."""

    path: str
    format: str


class HealthDocument(JsonDocument):
    """The health of the server; with a token, also the state of its memory."""

    alive: bool
    scope: str | None = None
    atoms: int | None = None
    layers: dict[str, int] | None = None
    to_review: int | None = None
    waiting: int | None = None
    jobs: list[JobDocument] | None = None
    quarantined: Annotated[
        list[ProblemDocument] | None, Field(description="Files and atoms that a person must fix.")
    ] = None
    keeper: Annotated[str | None, Field(description="The state of the vault's daemon.")] = None
