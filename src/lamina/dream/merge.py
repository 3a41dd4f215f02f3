"""Step 2, merge: what several statements say together is told in one that cites them, beside them.

Statements near in meaning make a cluster, statements about one thing a subject. Nothing is merged away here: where
words stand twice, a person is asked. A synthesis lives as long as its sources say what they said.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from lamina.atom.atom import Atom, Signals
from lamina.atom.identity import AtomId
from lamina.atom.passage import meant, passages_of
from lamina.atom.standing import begins
from lamina.atom.status import Status
from lamina.dream.clusters import clusters
from lamina.dream.duplicates import duplicates
from lamina.dream.plan import Move, Plan
from lamina.dream.scene import Scene
from lamina.dream.shelf import Shelf
from lamina.dream.summary import summed_up
from lamina.dream.synthesis import CITED, MadeOf, Theme, distinct, extract, to_synthesis
from lamina.lifecycle.moment import days_since
from lamina.models.embedder import Embedder, Piece
from lamina.models.encode import WHOLE_CHUNKS
from lamina.models.unit import unit
from lamina.text.normal import name_form, one_line
from lamina.vectors.levels import Floats

SUBJECT_RUNGS = (3, 5, 10, 20)
CLUSTER_RUNGS = (5, 10, 20, 50, 100, 200, 500, 1000)
"""How many statements there are when a synthesis is made, and when it is made anew."""
TOP = 3
HALF_LIFE_DAYS = 30.0
WRITTEN = 20
"""So many clusters of one dream are put into a chat model's words, the largest; the others are told in their own."""
_TOLD_CHARS = 80


@dataclass(slots=True)
class _Merged:
    """What the step comes to."""

    changes: dict[AtomId, Atom] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    written: int = 0

    def do(self, action: str, atom: Atom, why: str) -> None:
        self.changes[atom.id] = atom
        self.moves.append(Move(action, atom.id, one_line(atom.content)[:_TOLD_CHARS], why))


def merge(scene: Scene) -> Plan:
    """Tell clusters and subjects in one statement each, renew or let go what no longer holds, and ask about doubles."""
    stated = sorted((each for each in scene.stated() if not each.is_episode), key=lambda each: each.id)
    shelf, found = Shelf(scene), _Merged()
    for theme in (*_clusters(scene, stated), *_subjects(scene, stated, shelf)):
        if scene.stop():
            return Plan(notes=("broken off; the next dream does it",))
        if not shelf.tells(theme):
            _tell(theme, scene, shelf, found)
    for each in shelf.stale():
        if each.id not in found.changes:
            found.do("let go", each.with_(status=Status.TOMBSTONED), "what it was made of has changed")
    for duplicate in duplicates(scene, stated):
        found.do("ask", duplicate, f"{len(duplicate.derived_from)} statements in the same words")
    return Plan(tuple(found.changes.values()), tuple(found.moves))


def _tell(theme: Theme, scene: Scene, shelf: Shelf, found: _Merged) -> None:
    """Write a theme down; what told it before gives way."""
    before = [atom for atom in shelf.replaced_by(theme) if atom.id not in found.changes]
    made = to_synthesis(theme, _words(theme, scene, found), scene.scope, next(scene.ids))
    # What was laid aside is past giving way: it is let go with the others whose sources have changed.
    giving_way = [each for each in before if each.status is not Status.ARCHIVED]
    made = made.with_(supersedes=tuple(each.id for each in giving_way))
    found.do("renew" if before else "add", made, f"{theme.made_of} of {len(theme.members)}: {theme.subject or 'alike'}")
    for each in before:
        if each.status is Status.ARCHIVED:
            found.do("let go", each.with_(status=Status.TOMBSTONED), f"{made.id} says it anew")
        else:
            found.changes[each.id] = _over(each, made, scene)


def _over(synthesis: Atom, heir: Atom, scene: Scene) -> Atom:
    until = scene.now if begins(synthesis) < scene.now else synthesis.valid_until
    superseded_by = (*synthesis.superseded_by, heir.id)
    return synthesis.with_(status=Status.SUPERSEDED, superseded_by=superseded_by, valid_until=until)


def _words(theme: Theme, scene: Scene, found: _Merged) -> str:
    writer = scene.writer
    if writer is None or theme.made_of is not MadeOf.CLUSTER or found.written >= WRITTEN:
        return extract(theme.members)
    found.written += 1
    return summed_up(theme.members, writer)


def _clusters(scene: Scene, stated: Sequence[Atom]) -> Iterator[Theme]:
    """Statements near in meaning that say it in more than one way, the largest cluster first."""
    loose = [atom for atom in stated if not atom.pinned]
    embedder = scene.embedder() if len(loose) >= CLUSTER_RUNGS[0] else None
    if embedder is None:
        return
    for rows in clusters(_vectors(scene, embedder, loose)):
        members = tuple(loose[row] for row in rows)
        cited = members[:CITED]
        if len(distinct(cited)) > 1:
            yield Theme(MadeOf.CLUSTER, cited, _rung(len(members), CLUSTER_RUNGS), _shared_subject(members))


def _vectors(scene: Scene, embedder: Embedder, atoms: Sequence[Atom]) -> Floats:
    """A unit vector for each statement; those the store has none of yet are worked out on the spot."""
    known = scene.store.encodings.vectors(embedder.model.id, [each.id for each in atoms])
    unseen = [each for each in atoms if each.id not in known]
    made = embedder.passages([Piece(meant(each, passages_of(each)[0]), WHOLE_CHUNKS) for each in unseen])
    known |= {atom.id: it.vectors for atom, it in zip(unseen, made, strict=True)}
    return unit(np.stack([known[each.id].mean(axis=0) for each in atoms]))


def _subjects(scene: Scene, stated: Sequence[Atom], shelf: Shelf) -> Iterator[Theme]:
    """Subjects of which enough is said, each by its best statements."""
    about: dict[str, list[Atom]] = defaultdict(list)
    for atom in stated:
        about[name_form(atom.subject)].append(atom)
    for subject in sorted(each for each in about if each):
        atoms = about[subject]
        count = _rung(len(atoms), SUBJECT_RUNGS)
        if count and not shelf.tells_subject(subject, count) and len(distinct(atoms)) > 1:
            yield Theme(MadeOf.SUBJECT, _best(scene, atoms), count, atoms[0].subject)


def _best(scene: Scene, atoms: Sequence[Atom]) -> tuple[Atom, ...]:
    """The few that served best and are the most recent, none saying the words of another."""
    counted = scene.store.ledger.signals_of([each.id for each in atoms])

    def worth(atom: Atom) -> float:
        quality = counted.get(atom.id, Signals()).quality_score
        return quality * math.exp2(-days_since(atom.observed_at, scene.now) / HALF_LIFE_DAYS)

    ranked = sorted(atoms, key=lambda each: (-worth(each), each.id))
    return tuple(distinct(ranked)[:TOP])


def _rung(count: int, rungs: Sequence[int]) -> int:
    return max((rung for rung in rungs if rung <= count), default=0)


def _shared_subject(members: Sequence[Atom]) -> str:
    subjects = {name_form(member.subject): member.subject for member in members}
    return next(iter(subjects.values())) if len(subjects) == 1 else ""
