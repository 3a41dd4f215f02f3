"""JSON documents that only the HTTP API returns: pages of lists, upkeep reports and working memory."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from lamina.documents import AtomDocument, EntryDocument, HitDocument, ReceiptDocument
from lamina.documents.atom import Moment
from lamina.documents.document import Document
from lamina.documents.history import TransitionDocument
from lamina.documents.inbox import ItemDocument
from lamina.documents.neighbour import NeighbourDocument
from lamina.documents.stats import JobDocument, ProblemDocument

Next = Annotated[int | None, Field(description="The offset of the next page; null if this is the last.")]


class AtomsDocument(Document):
    """A page of atoms, newest first."""

    atoms: list[AtomDocument]
    more: bool
    next: Next


class GotDocument(Document):
    """One atom, the text it rests on, and how many independent sources confirm it."""

    atom: AtomDocument
    quotes: list[dict[str, str | int]]
    confirmations: int


class JournalDocument(Document):
    """A page of commits, oldest first."""

    entries: list[EntryDocument]
    more: bool
    next: Annotated[int, Field(description="The position to continue from.")]


class TransitionsDocument(Document):
    """An atom's status changes, oldest first."""

    id: str
    transitions: list[TransitionDocument]


class NeighboursDocument(Document):
    """The atoms linked to or from one."""

    id: str
    neighbours: list[NeighbourDocument]


class SignalsDocument(Document):
    """An atom's usage counters and feedback."""

    id: str
    quality_score: float
    recall_count: int
    last_recalled_at: Moment | None
    use_days: int
    successes: float
    failures: float


class TopDocument(Document):
    """The core memories."""

    atoms: list[AtomDocument]


class PlanDocument(Document):
    """The memories a planner needs for a goal, as hits and as fenced text."""

    goal: str
    profile: list[HitDocument]
    procedural: list[HitDocument]
    semantic: list[HitDocument]
    context: str


class ContextDocument(Document):
    """What an agent should know at the start of a session: fenced text, and the atoms in it."""

    context: str
    known: bool
    about: str | None
    atoms: list[str]


class TopicDocument(Document):
    """A topic, its number of statements, and when the newest was observed."""

    name: str
    count: int
    newest: Moment


class TopicsDocument(Document):
    """The most frequent topics."""

    topics: list[TopicDocument]


class TaughtDocument(Document):
    """The atoms whose signals changed."""

    ids: list[str]


class WaitingDocument(Document):
    """A page of pending items."""

    waiting: int
    items: list[ItemDocument]
    more: bool
    next: Next


class PairDocument(Document):
    """Two statements that contradict each other, the older first."""

    a: AtomDocument
    b: AtomDocument
    confidence: float
    reason: str
    note: str
    later: Moment | None


class PairsDocument(Document):
    """Every pair that is pending review."""

    pairs: list[PairDocument]


class DecisionsDocument(Document):
    """The receipts of review decisions."""

    decisions: list[ReceiptDocument]


class GroupDocument(Document):
    """Statements that could be merged, what they have in common, and the proposal if one was made."""

    basis: str
    members: list[str]
    proposal: AtomDocument | None


class GroupsDocument(Document):
    """Groups of statements that could be merged, and the commit that proposed them."""

    commit: str | None
    groups: list[GroupDocument]


class RunDocument(Document):
    """The notes of an open run, or how a closed one ended."""

    run: str
    outcome: str | None
    event: AtomDocument | None
    notes: list[AtomDocument]


class EntryOfBlock(Document):
    """One note of a block."""

    role: str
    text: str


class BlockDocument(Document):
    """The notes of a workstream, oldest first."""

    workstream: str
    entries: list[EntryOfBlock]
    text: str


class JobsDocument(Document):
    """Background jobs, and how many passages are waiting for extraction."""

    jobs: list[JobDocument]
    waiting: int


class SyncDocument(Document):
    """What a sync of the files found."""

    edited: list[str]
    adopted: list[str]
    moved: list[str]
    deleted: list[str]
    held: list[str]
    unreadable: list[str]
    written: int


class DoctorDocument(Document):
    """Problems, faults and notes about a vault."""

    healthy: bool
    problems: list[ProblemDocument]
    faults: list[str]
    notes: list[str]


class RebuiltDocument(Document):
    """The number of atoms in the rebuilt index."""

    atoms: int


class ExportedDocument(Document):
    """The path of an export inside the vault."""

    path: str
    format: str


class HealthDocument(Document):
    """Whether the server is running; with a token, the state of its memory."""

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
