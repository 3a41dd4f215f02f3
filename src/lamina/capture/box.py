"""Boxes and traces: statements made in one go about one thing lie together, and boxes that recur form a thread."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.atom.status import RECALL_WEIGHT
from lamina.atom.trust import Origin
from lamina.store.base import Change, Commit, Filter, Store
from lamina.text.analyse import QUESTION_STOP, analyse
from lamina.text.normal import normal_form
from lamina.vault import layout

OVERLAP = 0.35
"""A statement goes into a box that holds so much of what it is about."""
IDLE = timedelta(minutes=30)
MOST = 50
RECENT = 60
"""So many of the youngest statements are looked at for the boxes that are open."""
UNSEALED = 2000
"""So many are looked at for boxes to seal."""
TRACE = timedelta(days=7)
TRACE_OVERLAP = 0.4
SHOWN = 5
"""So many topics stand in a box's heading."""
_WORD = re.compile(r"\w+")


@dataclass(slots=True)
class Box:
    """What one box holds so far."""

    id: AtomId
    members: list[Atom] = field(default_factory=list)
    topics: dict[str, int] = field(default_factory=dict)

    def add(self, atom: Atom) -> None:
        """Put a statement in."""
        self.members.append(atom)
        for topic in topics_of(atom):
            self.topics[topic] = self.topics.get(topic, 0) + 1

    @property
    def last(self) -> datetime:
        """When the youngest of its statements was made."""
        return max(member.observed_at for member in self.members)

    def takes(self, atom: Atom) -> bool:
        """Whether a statement belongs in: said soon after, on what the box is about."""
        near = abs(atom.observed_at - self.last) < IDLE
        return near and len(self.members) < MOST and contained(topics_of(atom), self.topics) >= OVERLAP

    def is_done(self, now: datetime) -> bool:
        """Whether nothing more will go in."""
        return len(self.members) >= MOST or now - self.last >= IDLE


def topics_of(atom: Atom) -> frozenset[str]:
    """What a statement is about: who and what it names, and the stems of its other words."""
    named = (normal_form(each) for each in (*atom.entities, *atom.tags, atom.attribute or ""))
    words = (token for token in analyse(atom.content) if len(token) > 2 and token not in QUESTION_STOP)
    return frozenset(each for each in (*named, *words) if each) - {normal_form(atom.subject)}


def contained(topics: frozenset[str], held: Mapping[str, int] | frozenset[str]) -> float:
    """How much of the topics is held already; a box that grows does not come to look less like them."""
    return sum(topic in held for topic in topics) / len(topics) if topics else 0.0


def boxed(atoms: Sequence[Atom], store: Store, ids: Iterator[AtomId]) -> list[Atom]:
    """The statements, each with the box it goes into: an open one that fits best, or one of its own."""
    if not atoms:
        return []
    open_boxes = _boxes(_recent(store, atoms[0].scope, RECENT))
    given: list[Atom] = []
    for atom in atoms:
        fits = [box for box in open_boxes.values() if box.takes(atom)]
        best = max(fits, key=lambda box: (contained(topics_of(atom), box.topics), box.id), default=None)
        if best is None:
            best = Box(next(ids))
            open_boxes[best.id] = best
        placed = atom.with_(box_id=best.id)
        best.add(placed)
        given.append(placed)
    return given


def seal(store: Store, scope: Scope, now: datetime) -> list[Atom]:
    """Close the boxes nothing more goes into: each becomes a file that lists what it holds, on a trace of its kind.

    Returns what lies in them.
    """
    boxes = _boxes(_recent(store, scope, UNSEALED))
    sealed = {each.id for each in store.read(Filter(scopes=(scope,), ids=tuple(boxes)))} if boxes else set()
    done = [box for box in boxes.values() if box.id not in sealed and box.is_done(now)]
    if not done:
        return []
    known = store.read(Filter(scopes=(scope,), kinds=frozenset({"box"}), limit=UNSEALED))
    for box in sorted(done, key=lambda each: (each.last, each.id)):
        atom = _sealed(box, scope, [each for each in known if abs(box.last - each.observed_at) <= TRACE])
        known.append(atom)
        store.commit(
            Commit(
                actor="lamina",
                origin=Origin.DREAM,
                verb="box",
                reason=f"sealed a box of {len(box.members)}",
                scope=scope,
                changes=(Change(atom),),
                key=f"box {box.id}",
            )
        )
    return [member for box in done for member in box.members]


def _recent(store: Store, scope: Scope, limit: int) -> list[Atom]:
    found = store.read(Filter(scopes=(scope,), statuses=frozenset(RECALL_WEIGHT), limit=limit))
    return [each for each in found if each.box_id is not None]


def _boxes(atoms: Sequence[Atom]) -> dict[AtomId, Box]:
    boxes: dict[AtomId, Box] = {}
    for atom in sorted(atoms, key=lambda each: (each.observed_at, each.id)):
        box_id = AtomId(atom.box_id or "")
        boxes.setdefault(box_id, Box(box_id)).add(atom)
    return boxes


def _sealed(box: Box, scope: Scope, known: Sequence[Atom]) -> Atom:
    ranked = sorted(box.topics, key=lambda topic: (-box.topics[topic], topic))
    spelt = {stem: word for member in box.members for word in _WORD.findall(member.content) for stem in analyse(word)}
    heading = ", ".join(spelt.get(topic, topic).lower() for topic in ranked[:SHOWN])
    lines = (
        f"- [[{layout.stem(layout.path_for(member))}]] {' '.join(member.content.split())}" for member in box.members
    )
    return Atom(
        id=box.id,
        scope=scope,
        kind="box",
        content="\n".join([f"# {heading}", "", *lines]),
        observed_at=box.members[0].observed_at,
        session_id=box.members[0].session_id,
        tags=tuple(ranked[: 4 * SHOWN]),
        origin=Origin.DREAM,
        derived_from=tuple(member.id for member in box.members),
        trace_id=_trace(box, known),
        **kind_defaults("box", 1.0, Origin.DREAM),
    )


def _trace(box: Box, known: Sequence[Atom]) -> str:
    """The thread of the box that is most like it; a box like no other begins one, under its own id."""
    topics = frozenset(box.topics)
    alike = [(contained(frozenset(atom.tags), topics), atom) for atom in known if atom.trace_id]
    overlap, best = max(alike, key=lambda pair: (pair[0], pair[1].observed_at, pair[1].id), default=(0.0, None))
    return best.trace_id or box.id if best is not None and overlap >= TRACE_OVERLAP else box.id
