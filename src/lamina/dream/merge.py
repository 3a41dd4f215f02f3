"""Step 2, merge: write a synthesis that cites several statements and stands beside them.

Statements with similar meaning form a cluster, statements about one thing a subject. Nothing is merged away: for
identical statements a person is asked. A synthesis is valid as long as its sources are unchanged.
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
"""The numbers of statements at which a synthesis is written, and written again."""
TOP = 3
HALF_LIFE_DAYS = 30.0
WRITTEN = 20
"""The most clusters that a chat model summarises in one dream, largest first; the others quote their members."""
_TOLD_CHARS = 80


@dataclass(slots=True)
class _Merged:
    """The changes that the step collects."""

    changes: dict[AtomId, Atom] = field(default_factory=dict)
    moves: list[Move] = field(default_factory=list)
    written: int = 0

    def do(self, action: str, atom: Atom, why: str) -> None:
        self.changes[atom.id] = atom
        self.moves.append(Move(action, atom.id, one_line(atom.content)[:_TOLD_CHARS], why))


def merge(scene: Scene) -> Plan:
    """Write syntheses of clusters and subjects, retire those whose sources changed, and propose to merge duplicates."""
    statements = sorted(
        (statement for statement in scene.stated() if not statement.is_episode), key=lambda statement: statement.id
    )
    syntheses, result = Shelf(scene), _Merged()
    for theme in (*_clusters(scene, statements), *_subjects(scene, statements, syntheses)):
        if scene.stop():
            return Plan(notes=("interrupted; the next dream continues",))
        if not syntheses.tells(theme):
            _tell(theme, scene, syntheses, result)
    for synthesis in syntheses.stale():
        if synthesis.id not in result.changes:
            result.do("let go", synthesis.with_(status=Status.TOMBSTONED), "its sources have changed")
    for duplicate in duplicates(scene, statements):
        result.do("ask", duplicate, f"{len(duplicate.derived_from)} statements with the same text")
    return Plan(tuple(result.changes.values()), tuple(result.moves))


def _tell(theme: Theme, scene: Scene, shelf: Shelf, found: _Merged) -> None:
    """Write the synthesis of a theme; it supersedes earlier ones."""
    earlier = [atom for atom in shelf.replaced_by(theme) if atom.id not in found.changes]
    synthesis = to_synthesis(theme, _words(theme, scene, found), scene.scope, next(scene.ids))
    # An archived synthesis cannot be superseded: it is ended like those whose sources changed.
    superseded = [atom for atom in earlier if atom.status is not Status.ARCHIVED]
    synthesis = synthesis.with_(supersedes=tuple(atom.id for atom in superseded))
    found.do(
        "renew" if earlier else "add",
        synthesis,
        f"{theme.made_of} of {len(theme.members)}: {theme.subject or 'similar'}",
    )
    for atom in earlier:
        if atom.status is Status.ARCHIVED:
            found.do("let go", atom.with_(status=Status.TOMBSTONED), f"replaced by {synthesis.id}")
        else:
            found.changes[atom.id] = _over(atom, synthesis, scene)


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
    """Return clusters of statements with similar meaning and different text, the largest first."""
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
    """Return a unit vector for each statement; missing ones are computed."""
    vectors = scene.store.encodings.vectors(embedder.model.id, [atom.id for atom in atoms])
    missing = [atom for atom in atoms if atom.id not in vectors]
    encoded = embedder.passages([Piece(meant(atom, passages_of(atom)[0]), WHOLE_CHUNKS) for atom in missing])
    vectors |= {atom.id: encoding.vectors for atom, encoding in zip(missing, encoded, strict=True)}
    return unit(np.stack([vectors[atom.id].mean(axis=0) for atom in atoms]))


def _subjects(scene: Scene, stated: Sequence[Atom], shelf: Shelf) -> Iterator[Theme]:
    """Return subjects with enough statements, each with its best ones."""
    by_subject: dict[str, list[Atom]] = defaultdict(list)
    for atom in stated:
        by_subject[name_form(atom.subject)].append(atom)
    for subject in sorted(subject for subject in by_subject if subject):
        atoms = by_subject[subject]
        count = _rung(len(atoms), SUBJECT_RUNGS)
        if count and not shelf.tells_subject(subject, count) and len(distinct(atoms)) > 1:
            yield Theme(MadeOf.SUBJECT, _best(scene, atoms), count, atoms[0].subject)


def _best(scene: Scene, atoms: Sequence[Atom]) -> tuple[Atom, ...]:
    """Return the most useful and most recent statements, no two with the same text."""
    counters = scene.store.ledger.signals_of([atom.id for atom in atoms])

    def usefulness(atom: Atom) -> float:
        quality = counters.get(atom.id, Signals()).quality_score
        return quality * math.exp2(-days_since(atom.observed_at, scene.now) / HALF_LIFE_DAYS)

    ranked = sorted(atoms, key=lambda atom: (-usefulness(atom), atom.id))
    return tuple(distinct(ranked)[:TOP])


def _rung(count: int, rungs: Sequence[int]) -> int:
    return max((rung for rung in rungs if rung <= count), default=0)


def _shared_subject(members: Sequence[Atom]) -> str:
    subjects = {name_form(member.subject): member.subject for member in members}
    return next(iter(subjects.values())) if len(subjects) == 1 else ""
