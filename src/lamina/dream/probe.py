"""Step 5, probe: statements that were not used for a while are compared with what was said since, by the chat model.

Without a chat model nothing is probed. Five statements a day, the oldest use first, and none twice within a fortnight.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.identity import AtomId
from lamina.atom.kinds import KINDS
from lamina.atom.pair import hold_both, link_between
from lamina.atom.relation import Relation, RelationName
from lamina.atom.status import Status
from lamina.atom.trust import Origin
from lamina.capture.change.known import Known
from lamina.capture.classify import DOUBTFUL
from lamina.dream.doubts import doubted_by
from lamina.dream.entity_pages import is_stated
from lamina.dream.newer import Line, newer_lines
from lamina.dream.plan import Move, Plan
from lamina.dream.scene import Scene
from lamina.store.base import Filter
from lamina.text.normal import one_line

A_DREAM = 5
"""How many statements are probed on one day."""
UNUSED_FOR = timedelta(days=14)
"""How long nobody must have used it, and how long it rests after it was probed."""
A_DAY = timedelta(days=1)
PROBED = frozenset(name for name, each in KINDS.items() if not each.episode and not each.lists) - {"entity", "code"}
_TOLD_CHARS = 80


@dataclass(slots=True)
class _Found:
    """What one dream comes to; one statement may speak against several."""

    changes: dict[AtomId, Atom] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def latest(self, atom: Atom) -> Atom:
        return self.changes.get(atom.id, atom)


def probe(scene: Scene) -> Plan:
    """Set what has its turn against newer evidence: doubt it where that is sure, and ask a person where it is not."""
    found, known, idle = _Found(), Known(scene.store, scene.scope, scene.now), turn(scene)
    for belief in idle:
        if belief.validity.covers(scene.now):
            _probe(belief, known, scene, found)
    ids = [each.id for each in idle]
    return Plan(
        tuple(found.changes.values()),
        tuple(found.moves),
        tuple(found.notes),
        after=lambda: scene.store.dreams.probed(scene.scope, ids, scene.now),
    )


def turn(scene: Scene) -> list[Atom]:
    """The statements that have their turn, the oldest use first."""
    dreams, left = scene.store.dreams, A_DREAM - scene.store.dreams.probed_since(scene.scope, scene.now - A_DAY)
    if left <= 0:
        return []
    ids = dreams.idle(scene.scope, PROBED, scene.moment.lived - UNUSED_FOR, scene.now - UNUSED_FOR, left)
    read = {each.id: each for each in scene.store.read(Filter(scopes=(scene.scope,), ids=tuple(ids)))}
    return [read[atom_id] for atom_id in ids if atom_id in read]


def _probe(belief: Atom, known: Known, scene: Scene, found: _Found) -> None:
    writer = scene.writer
    lines = newer_lines(belief, known, scene) if writer is not None else []
    rivals = doubted_by(writer, belief, lines) if writer is not None and lines else []
    for line in sorted(rivals, key=_rank):
        if _set_against(belief, line, known, scene, found):
            return  # one question at a time


def _rank(line: Line) -> tuple[float, str, int]:
    return -line.at.timestamp(), line.source.id, line.place.start if line.place else 0


def _set_against(belief: Atom, line: Line, known: Known, scene: Scene, found: _Found) -> bool:
    """Make a pair of a statement and a line, or leave it one; False where somebody has decided about them already."""
    other = next(_said_in(line, known), None) or _quoted(line, belief, scene, found)
    if other is not None and link_between(belief, found.latest(other)):
        return True
    if other is None or _is_settled(belief, other, scene):
        return False
    belief, other = found.latest(belief), found.latest(other)
    link = RelationName.CONTRADICTS, DOUBTFUL, scene.now
    if not other.pinned:
        other = other.with_(relations=(*other.relations, Relation(link[0], belief.id, *link[1:])))
        found.changes[other.id] = other
    elif not belief.pinned:
        belief = belief.with_(relations=(*belief.relations, Relation(link[0], other.id, *link[1:])))
        found.changes[belief.id] = belief
    else:
        found.notes.append(f"{belief.id} and {other.id} may contradict each other, and both are pinned")
        return True
    why = f"{line.at:%Y-%m-%d}: {line.text[:_TOLD_CHARS]} [{other.id}]"
    found.moves.append(Move("ask", belief.id, one_line(belief.content)[:_TOLD_CHARS], why))
    return True


def _said_in(line: Line, known: Known) -> Iterator[Atom]:
    """The statement that a line is, or that was made of it."""
    if line.place is None:
        yield line.source
        return
    resting = sorted(known.on(line.place), key=lambda each: each.id)
    yield from (each for each in resting if each.status is Status.ACTIVE and is_stated(each))


def _quoted(line: Line, belief: Atom, scene: Scene, found: _Found) -> Atom | None:
    """The very words, put before a person: nothing of a dream's own counts. None where they were decided about."""
    here = next(
        (change for change in found.changes.values() if not change.revision and change.content == line.text), None
    )
    if here is not None:
        return here
    before = scene.store.read(Filter(scopes=(scene.scope,), contents=(line.text,)))
    if before:
        return next((each for each in before if link_between(belief, each)), None)
    words = line.source
    return Atom(
        id=next(scene.ids),
        scope=scene.scope,
        kind="fact",
        content=line.text,
        observed_at=line.at,
        origin=Origin.DREAM,
        derived_from=(words.id,),
        session_id=words.session_id,
        agents=words.agents,
        status=Status.CHALLENGED,
        confidence=DOUBTFUL,
        metadata={"origin": "probe"},
        **kind_defaults("fact", DOUBTFUL, Origin.DREAM),
    )


def _is_settled(belief: Atom, other: Atom, scene: Scene) -> bool:
    """Whether somebody has decided: a doubt that was settled or undone does not come back."""
    if hold_both(belief, other):
        return True
    before = [version.atom for atom in (belief, other) if atom.revision for version in scene.store.versions(atom.id)]
    return any(link_between(each, other) or link_between(belief, each) for each in before)
