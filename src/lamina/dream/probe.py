"""Step 5, probe: a chat model compares statements that were not used for a while with what was said since.

Without a chat model nothing is probed. Five statements a day, the longest unused first, and none twice in 14 days.
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
"""The most statements that are probed in one day."""
UNUSED_FOR = timedelta(days=14)
"""How long a statement must be unused, and the shortest time between two probes of it."""
A_DAY = timedelta(days=1)
PROBED = frozenset(name for name, each in KINDS.items() if not each.episode and not each.lists) - {"entity", "code"}
_TOLD_CHARS = 80


@dataclass(slots=True)
class _Found:
    """The changes that the step collects; one statement may contradict several."""

    changes: dict[AtomId, Atom] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def latest(self, atom: Atom) -> Atom:
        return self.changes.get(atom.id, atom)


def probe(scene: Scene) -> Plan:
    """Compare idle statements with later evidence and create a pair for review where they contradict."""
    result, working_set, idle = _Found(), Known(scene.store, scene.scope, scene.now), turn(scene)
    for statement in idle:
        if statement.validity.covers(scene.now):
            _probe(statement, working_set, scene, result)
    ids = [statement.id for statement in idle]
    return Plan(
        tuple(result.changes.values()),
        tuple(result.moves),
        tuple(result.notes),
        after=lambda: scene.store.dreams.probed(scene.scope, ids, scene.now),
    )


def turn(scene: Scene) -> list[Atom]:
    """Return the statements to probe, the longest unused first."""
    dreams, remaining = scene.store.dreams, A_DREAM - scene.store.dreams.probed_since(scene.scope, scene.now - A_DAY)
    if remaining <= 0:
        return []
    ids = dreams.idle(scene.scope, PROBED, scene.moment.lived - UNUSED_FOR, scene.now - UNUSED_FOR, remaining)
    atoms = {atom.id: atom for atom in scene.store.read(Filter(scopes=(scene.scope,), ids=tuple(ids)))}
    return [atoms[atom_id] for atom_id in ids if atom_id in atoms]


def _probe(belief: Atom, known: Known, scene: Scene, found: _Found) -> None:
    chat = scene.writer
    later_sentences = newer_lines(belief, known, scene) if chat is not None else []
    contradictions = doubted_by(chat, belief, later_sentences) if chat is not None and later_sentences else []
    for sentence in sorted(contradictions, key=_rank):
        if _set_against(belief, sentence, known, scene, found):
            return  # one pair for each statement is enough


def _rank(line: Line) -> tuple[float, str, int]:
    return -line.at.timestamp(), line.source.id, line.place.start if line.place else 0


def _set_against(belief: Atom, line: Line, known: Known, scene: Scene, found: _Found) -> bool:
    """Create a pair of a statement and a later sentence if there is none; False if a person decided about it."""
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
        found.notes.append(
            f"{belief.id} and {other.id} may contradict each other; both are pinned, so no pair was created"
        )
        return True
    why = f"{line.at:%Y-%m-%d}: {line.text[:_TOLD_CHARS]} [{other.id}]"
    found.moves.append(Move("ask", belief.id, one_line(belief.content)[:_TOLD_CHARS], why))
    return True


def _said_in(line: Line, known: Known) -> Iterator[Atom]:
    """Return the statement that a later sentence is, or that was extracted from it."""
    if line.place is None:
        yield line.source
        return
    resting = sorted(known.on(line.place), key=lambda atom: atom.id)
    yield from (atom for atom in resting if atom.status is Status.ACTIVE and is_stated(atom))


def _quoted(line: Line, belief: Atom, scene: Scene, found: _Found) -> Atom | None:
    """Return the sentence as a challenged statement for review; None if a person decided about its text before."""
    pending = next(
        (change for change in found.changes.values() if not change.revision and change.content == line.text), None
    )
    if pending is not None:
        return pending
    earlier = scene.store.read(Filter(scopes=(scene.scope,), contents=(line.text,)))
    if earlier:
        return next((atom for atom in earlier if link_between(belief, atom)), None)
    source = line.source
    return Atom(
        id=next(scene.ids),
        scope=scene.scope,
        kind="fact",
        content=line.text,
        observed_at=line.at,
        origin=Origin.DREAM,
        derived_from=(source.id,),
        session_id=source.session_id,
        agents=source.agents,
        status=Status.CHALLENGED,
        confidence=DOUBTFUL,
        metadata={"origin": "probe"},
        **kind_defaults("fact", DOUBTFUL, Origin.DREAM),
    )


def _is_settled(belief: Atom, other: Atom, scene: Scene) -> bool:
    """Return whether a person decided about the pair: one that was settled or undone does not return."""
    if hold_both(belief, other):
        return True
    versions = [version.atom for atom in (belief, other) if atom.revision for version in scene.store.versions(atom.id)]
    return any(link_between(earlier, other) or link_between(belief, earlier) for earlier in versions)
