"""Boxes and traces: a box is a run of statements about one topic, a trace is its recurring boxes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import numpy as np

from lamina.atom.atom import Atom, AtomId, kind_defaults
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import RECALL_WEIGHT
from lamina.capture.store_reads import WriteContext
from lamina.models.embedder import Embedder
from lamina.store.base import AtomChange, AtomFilter, Commit, Store
from lamina.text.analyser import STOP_WORDS, analyse
from lamina.text.normal_form import normal_form
from lamina.vault import layout

MIN_TOPIC_OVERLAP = 0.35
"""The share of its topics that a statement must have in common with a box to return to it."""
MIN_RUN_OVERLAP = 0.25
"""A statement that shares this many of its topics with a run of talk continues it."""
MIN_SIMILARITY = 0.1
"""The least cosine between the last statements of a run and one that continues it without sharing its topics."""
COMPARED_STATEMENTS = 6
"""How many of the last statements of a run are compared."""
MIN_STATEMENTS = 2
"""The fewest statements of a box: one alone needs no list."""
IDLE_TIMEOUT = timedelta(minutes=30)
"""A box accepts no statement that is this much older or younger than its last one."""
MAX_OPEN_BOXES = 60
"""How many boxes a statement of one capture may return to."""
MAX_STATEMENTS = 50
"""The most statements of a box."""
RECENT_STATEMENTS = 60
"""How many of the newest statements are read to find the open boxes."""
UNSEALED_STATEMENTS = 2000
"""How many are read to find boxes to seal."""
TRACE_WINDOW = timedelta(days=7)
"""How far apart two boxes of a trace may be."""
MIN_TRACE_OVERLAP = 0.4
HEADING_TOPICS = 5
"""How many topics are in the heading of a box."""
_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class Box:
    """The statements of one box so far, and how often each topic occurs."""

    id: AtomId
    members: list[Atom] = field(default_factory=list)
    topics: dict[str, int] = field(default_factory=dict)

    def add(self, atom: Atom) -> None:
        """Add a statement and count its topics."""
        self.members.append(atom)
        for topic in find_topics(atom):
            self.topics[topic] = self.topics.get(topic, 0) + 1

    @property
    def last_observed_at(self) -> datetime:
        """The time of the newest statement."""
        return max(member.observed_at for member in self.members)

    def has_room(self, atom: Atom) -> bool:
        """Return whether a statement may be added: the box is not full, and it was observed at about the same time."""
        return len(self.members) < MAX_STATEMENTS and abs(atom.observed_at - self.last_observed_at) < IDLE_TIMEOUT

    def is_complete(self, now: datetime) -> bool:
        """Return whether the box is full or idle, so that nothing more will be added."""
        return len(self.members) >= MAX_STATEMENTS or now - self.last_observed_at >= IDLE_TIMEOUT


def find_topics(atom: Atom) -> frozenset[str]:
    """Return the topics of a statement: the names it mentions, its tags, and the stems of its other words."""
    names = (normal_form(topic) for topic in (*atom.entities, *atom.tags, atom.attribute or ""))
    words = (token for token in analyse(atom.content) if len(token) > 2 and token not in STOP_WORDS)
    return frozenset(topic for topic in (*names, *words) if topic) - {normal_form(atom.subject)}


def topic_overlap(topics: frozenset[str], box_topics: Mapping[str, int] | frozenset[str]) -> float:
    """Return the share of the topics that the box has; it does not shrink as the box grows."""
    return sum(topic in box_topics for topic in topics) / len(topics) if topics else 0.0


def assign_boxes(atoms: Sequence[Atom], context: WriteContext, embedder: Embedder | None = None) -> list[Atom]:
    """Return the statements with box ids: of the box whose topics they return to, of the run of talk they continue, or
    of a new one. Without an embedding model only shared topics tell whether a run continues.
    """
    if not atoms:
        return []
    open_boxes = _group_by_box(context.reads.read(filter_recent(context.scope)))
    boxed_atoms: list[Atom] = []
    for n, atom in enumerate(atoms):
        boxes = [box for box in open_boxes.values() if box.has_room(atom)]
        box = _choose_box(atom, boxes, embedder, atoms[n + 1 : n + 2])
        if box is None:
            box = Box(next(context.ids))
            open_boxes[box.id] = box
            if len(open_boxes) > MAX_OPEN_BOXES:
                del open_boxes[next(iter(open_boxes))]
        boxed_atom = atom.with_(box_id=box.id)
        box.add(boxed_atom)
        boxed_atoms.append(boxed_atom)
    return boxed_atoms


def _choose_box(atom: Atom, boxes: Sequence[Box], embedder: Embedder | None, following: Sequence[Atom]) -> Box | None:
    """Return the box that a statement belongs to; None if it, and what follows, begins another topic."""
    topics = find_topics(atom)
    best = max(boxes, key=lambda box: (topic_overlap(topics, box.topics), box.id), default=None)
    if best is not None and topic_overlap(topics, best.topics) >= MIN_TOPIC_OVERLAP:
        return best
    of_session = [box for box in boxes if box.members[-1].session_id == atom.session_id]
    run = max(of_session, key=lambda box: (box.last_observed_at, box.members[-1].id), default=None)
    if run is None or len(run.members) < MIN_STATEMENTS:
        return run
    return None if all(_is_off_topic(statement, run, embedder) for statement in (atom, *following)) else run


def _is_off_topic(atom: Atom, run: Box, embedder: Embedder | None) -> bool:
    """Return whether a statement shares few topics with a run of talk and is not similar to its last statements."""
    if topic_overlap(find_topics(atom), run.topics) >= MIN_RUN_OVERLAP:
        return False
    if embedder is None:
        return True
    members = run.members[-COMPARED_STATEMENTS:]
    vectors = [embedder.encode_question(_without_subject(member)).vector for member in members]
    mean, vector = np.mean(vectors, axis=0), embedder.encode_question(_without_subject(atom)).vector
    length = float(np.linalg.norm(mean) * np.linalg.norm(vector))
    return length > 0 and float(mean @ vector) / length < MIN_SIMILARITY


def _without_subject(atom: Atom) -> str:
    """Return the words of a statement without its subject, which all statements of a speaker share."""
    subject_words = set(normal_form(atom.subject).split())
    return " ".join(word for word in atom.content.split() if normal_form(word) not in subject_words) or atom.content


def seal_boxes(store: Store, scope: Scope, now: datetime) -> list[Atom]:
    """Seal the boxes that are complete and return their statements.

    Each becomes an atom that lists its statements and belongs to a trace. A box of one statement is left as it is.
    """
    boxes = _group_by_box(store.atoms.read(filter_recent(scope, UNSEALED_STATEMENTS)))
    sealed = {box.id for box in store.atoms.read(AtomFilter(scopes=(scope,), ids=tuple(boxes)))} if boxes else set()
    complete = [
        box
        for box in boxes.values()
        if len(box.members) >= MIN_STATEMENTS and box.id not in sealed and box.is_complete(now)
    ]
    if not complete:
        return []
    earlier_boxes = store.atoms.read(AtomFilter(scopes=(scope,), kinds=frozenset({"box"}), limit=UNSEALED_STATEMENTS))
    for box in sorted(complete, key=lambda box: (box.last_observed_at, box.id)):
        atom = _box_atom(
            box,
            scope,
            [earlier for earlier in earlier_boxes if abs(box.last_observed_at - earlier.observed_at) <= TRACE_WINDOW],
        )
        earlier_boxes.append(atom)
        store.journal.append(
            Commit(
                actor="lamina",
                origin=Origin.DREAM,
                verb="box",
                reason=f"sealed a box of {len(box.members)}",
                scope=scope,
                changes=(AtomChange(atom),),
                key=f"box {box.id}",
            )
        )
    return [member for box in complete for member in box.members]


def filter_recent(scope: Scope, limit: int = RECENT_STATEMENTS) -> AtomFilter:
    """Return the filter of the newest statements, which may belong to an open box."""
    return AtomFilter(scopes=(scope,), statuses=frozenset(RECALL_WEIGHT), limit=limit)


def _group_by_box(atoms: Sequence[Atom]) -> dict[AtomId, Box]:
    """Return the boxes that these statements belong to, by id."""
    boxes: dict[AtomId, Box] = {}
    for atom in sorted(atoms, key=lambda statement: (statement.observed_at, statement.id)):
        if atom.box_id is not None:
            boxes.setdefault(AtomId(atom.box_id), Box(AtomId(atom.box_id))).add(atom)
    return boxes


def _box_atom(box: Box, scope: Scope, sealed_boxes: Sequence[Atom]) -> Atom:
    """Return the atom of a sealed box: a heading of its main topics and a link to each statement."""
    ranked_topics = sorted(box.topics, key=lambda topic: (-box.topics[topic], topic))
    spellings = {
        stem: word for member in box.members for word in _WORD.findall(member.content) for stem in analyse(word)
    }
    heading = ", ".join(spellings.get(topic, topic).lower() for topic in ranked_topics[:HEADING_TOPICS])
    lines = (f"- {layout.wiki_link(member)} {' '.join(member.content.split())}" for member in box.members)
    return Atom(
        id=box.id,
        scope=scope,
        kind="box",
        content="\n".join([f"# {heading}", "", *lines]),
        observed_at=box.members[0].observed_at,
        session_id=box.members[0].session_id,
        tags=tuple(ranked_topics[: 4 * HEADING_TOPICS]),
        origin=Origin.DREAM,
        derived_from=tuple(member.id for member in box.members),
        trace_id=_trace_id(box, sealed_boxes),
        **kind_defaults("box", 1.0, Origin.DREAM),
    )


def heading_topics(box: Atom) -> tuple[str, ...]:
    """Return the topics in the heading of a sealed box."""
    return tuple(filter(None, box.content.partition("\n")[0].removeprefix("# ").split(", ")))


def _trace_id(box: Box, sealed_boxes: Sequence[Atom]) -> str:
    """Return the trace of the most similar earlier box, or a new one with the id of this box."""
    topics = frozenset(box.topics)
    similar = [(topic_overlap(frozenset(atom.tags), topics), atom) for atom in sealed_boxes if atom.trace_id]
    overlap, best = max(similar, key=lambda pair: (pair[0], pair[1].observed_at, pair[1].id), default=(0.0, None))
    return best.trace_id or box.id if best is not None and overlap >= MIN_TRACE_OVERLAP else box.id
