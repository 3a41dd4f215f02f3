"""Documents that only this API gives: pages of lists, and what upkeep and working memory tell."""

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

Next = Annotated[int | None, Field(description="Where the next page begins; none where this was the last.")]


class AtomsDocument(Document):
    """A page of atoms, newest first."""

    atoms: list[AtomDocument]
    more: bool
    next: Next


class GotDocument(Document):
    """One atom, the words it rests on, and how many independent sources bear it out."""

    atom: AtomDocument
    quotes: list[dict[str, str | int]]
    confirmations: int


class JournalDocument(Document):
    """A page of commits, oldest first."""

    entries: list[EntryDocument]
    more: bool
    next: Annotated[int, Field(description="The position to go on from.")]


class TransitionsDocument(Document):
    """An atom's changes of status, oldest first."""

    id: str
    transitions: list[TransitionDocument]


class NeighboursDocument(Document):
    """The atoms linked to or from one."""

    id: str
    neighbours: list[NeighbourDocument]


class SignalsDocument(Document):
    """What use has taught of an atom."""

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
    """What a planner needs for a goal, and the same as fenced text."""

    goal: str
    profile: list[HitDocument]
    procedural: list[HitDocument]
    semantic: list[HitDocument]
    context: str


class ContextDocument(Document):
    """What an agent should know when it begins: fenced text, and the atoms it was made from."""

    context: str
    known: bool
    about: str | None
    atoms: list[str]


class TopicDocument(Document):
    """A topic, how many statements it has, and when the youngest was observed."""

    name: str
    count: int
    newest: Moment


class TopicsDocument(Document):
    """What is spoken of most."""

    topics: list[TopicDocument]


class TaughtDocument(Document):
    """The atoms something was learnt about."""

    ids: list[str]


class WaitingDocument(Document):
    """A page of what waits for a person."""

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
    """Every pair that waits for a person."""

    pairs: list[PairDocument]


class DecisionsDocument(Document):
    """What a person's word did, one receipt after the other."""

    decisions: list[ReceiptDocument]


class GroupDocument(Document):
    """Statements that could be one, what they have in common, and the proposal where it was made."""

    basis: str
    members: list[str]
    proposal: AtomDocument | None


class GroupsDocument(Document):
    """What could be put together, and the commit that put it before a person."""

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
    """A workstream's notes, oldest first."""

    workstream: str
    entries: list[EntryOfBlock]
    text: str


class JobsDocument(Document):
    """Background work, and how many passages wait to be read."""

    jobs: list[JobDocument]
    waiting: int


class SyncDocument(Document):
    """What a look at the files brought."""

    edited: list[str]
    adopted: list[str]
    moved: list[str]
    deleted: list[str]
    held: list[str]
    unreadable: list[str]
    written: int


class DoctorDocument(Document):
    """What is wrong or worth knowing."""

    healthy: bool
    problems: list[ProblemDocument]
    faults: list[str]
    notes: list[str]


class RebuiltDocument(Document):
    """How many atoms the index holds."""

    atoms: int


class ExportedDocument(Document):
    """Where in the vault's own folder an export was written."""

    path: str
    format: str


class HealthDocument(Document):
    """Whether the server is there; with a token, how its memory stands."""

    alive: bool
    scope: str | None = None
    atoms: int | None = None
    layers: dict[str, int] | None = None
    to_review: int | None = None
    waiting: int | None = None
    jobs: list[JobDocument] | None = None
    quarantined: Annotated[
        list[ProblemDocument] | None, Field(description="Files and atoms that need a person's hand.")
    ] = None
    keeper: Annotated[str | None, Field(description="What the keeper of the vault last told.")] = None
