"""Step 4, bridge: find two names with similar statements and no link, and propose an insight for review."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.identity import AtomId
from lamina.atom.proposal import TYPE, Proposal
from lamina.atom.relation import Relation, RelationName
from lamina.atom.status import RECALL_WEIGHT, Status
from lamina.atom.trust import Origin
from lamina.dream.insight import told_by_template, written
from lamina.dream.plan import Move, Plan
from lamina.dream.scene import Scene
from lamina.lifecycle.edges import PRUNED_BELOW
from lamina.store.base import Filter
from lamina.text.normal import normal_form
from lamina.text.roles import is_role
from lamina.vectors.levels import Floats

A_DAY = 3
DAY = timedelta(hours=24)
LEAST, NEAR, FAR = 3, 0.90, 0.75
"""The fewest statements of a name, and the range of cosines in which two names are similar and not the same."""
MOST_NAMES, MOST_ATOMS = 1000, 20
"""The most names, by number of statements, and the most statements of each, newest first."""
NEAREST = 3
BETWEEN = "between"
_DIGITS = 4
_UNENDED = frozenset({*RECALL_WEIGHT, Status.CHALLENGED, Status.CONSTRAINED})


@dataclass(frozen=True, slots=True)
class Side:
    """A name, the statements that name it, their vectors, and the centre of the vectors."""

    name: str
    atoms: tuple[Atom, ...]
    vectors: Floats
    centre: Floats

    def nearest(self, to: Floats) -> tuple[Atom, ...]:
        """Return the statements nearest to a centre."""
        cosines = np.round(self.vectors @ to, _DIGITS).tolist()
        order = sorted(range(len(self.atoms)), key=lambda n: (-cosines[n], self.atoms[n].id))
        return tuple(self.atoms[n] for n in order[:NEAREST])


def bridge(scene: Scene) -> Plan:
    """Propose insights about the most similar pairs of names that nothing links; none unless insights are enabled."""
    if not scene.insights:
        return Plan()
    earlier = [
        insight
        for insight in scene.store.read(Filter(scopes=(scene.scope,), kinds=frozenset({"insight"})))
        if insight.origin is Origin.DREAM and BETWEEN in insight.metadata
    ]
    remaining = A_DAY - sum(scene.now - insight.observed_at < DAY for insight in earlier)
    if remaining <= 0:
        return Plan(notes=(f"the daily limit of {A_DAY} insights is reached",))
    embedder = scene.embedder()
    if embedder is None:
        return Plan(notes=("no embedding model is loaded, so names cannot be compared",))
    decided = {insight.metadata[BETWEEN] for insight in earlier}
    changes, moves = list[Atom](), list[Move]()
    for cosine, first, second in _alike(_sides(scene, embedder.model.id)):
        if len(changes) == remaining:
            break
        if _key(first, second) not in decided and not _are_linked(first, second, scene):
            insight = _insight(first, second, cosine, scene)
            changes.append(insight)
            moves.append(
                Move("propose", insight.id, insight.content[:80], f"cosine {cosine:.2f}, and nothing links them")
            )
    return Plan(tuple(changes), tuple(moves))


def _sides(scene: Scene, model: str) -> list[Side]:
    """Return a centroid for each name with enough statements, the most mentioned first."""
    by_name: dict[str, dict[AtomId, Atom]] = defaultdict(dict)
    spelling: dict[str, str] = {}
    for atom in scene.stated():
        for name in (*atom.entities, atom.subject):
            form = normal_form(name)
            if form and not is_role(name):
                by_name[form][atom.id] = atom
                spelling.setdefault(form, name)
    order = sorted(
        (form for form in by_name if len(by_name[form]) >= LEAST), key=lambda form: (-len(by_name[form]), form)
    )
    chosen = {form: tuple(by_name[form].values())[:MOST_ATOMS] for form in order[:MOST_NAMES]}
    ids = sorted({atom.id for atoms in chosen.values() for atom in atoms})
    vectors = scene.store.encodings.vectors(model, ids) if ids else {}
    centroids = (_side(spelling[form], atoms, vectors) for form, atoms in chosen.items())
    return [centroid for centroid in centroids if centroid is not None]


def _side(name: str, atoms: Sequence[Atom], vectors: Mapping[AtomId, Floats]) -> Side | None:
    embedded = tuple(atom for atom in atoms if atom.id in vectors)
    if len(embedded) < LEAST:
        return None
    rows = np.stack([vectors[atom.id][0] for atom in embedded]).astype(np.float32)
    centre = rows.mean(axis=0)
    length = float(np.linalg.norm(centre))
    return Side(name, embedded, rows, centre / np.float32(length)) if length else None


def _alike(sides: Sequence[Side]) -> Iterator[tuple[float, Side, Side]]:
    """Return the pairs that are similar and not the same, the most similar first."""
    if len(sides) < 2:
        return
    centres = np.stack([centroid.centre for centroid in sides])
    cosines = np.round(centres @ centres.T, _DIGITS)
    rows, columns = np.nonzero(np.triu((cosines >= FAR) & (cosines <= NEAR), 1))
    pairs = [(float(cosines[i, j]), sides[i], sides[j]) for i, j in zip(rows.tolist(), columns.tolist(), strict=True)]
    yield from sorted(pairs, key=lambda pair: (-pair[0], _key(pair[1], pair[2])))


def _key(one: Side, other: Side) -> str:
    return " | ".join(sorted((normal_form(one.name), normal_form(other.name))))


def _are_linked(one: Side, other: Side, scene: Scene) -> bool:
    """Return whether a path of three hops connects the names: over one atom, or over two linked atoms."""
    first_atoms, second_atoms = (_naming(centroid, scene) for centroid in (one, other))
    if first_atoms & second_atoms:
        return True
    edges = scene.store.edges(sorted(first_atoms), (scene.scope,), _UNENDED)
    ends = ({edge.source, edge.target} for edge in edges if edge.confidence >= PRUNED_BELOW)
    return any(end & first_atoms and end & second_atoms for end in ends)


def _naming(side: Side, scene: Scene) -> set[str]:
    form = normal_form(side.name)
    shared = {f"entity:{form}", f"subject:{form}"}
    edges = scene.store.edges(sorted(shared), (scene.scope,), _UNENDED)
    return {str(edge.source) for edge in edges if edge.target in shared}


def _insight(one: Side, other: Side, cosine: float, scene: Scene) -> Atom:
    sides = (one.name, one.nearest(other.centre)), (other.name, other.nearest(one.centre))
    chat = scene.writer
    content = written(chat, *sides) if chat is not None else told_by_template(*sides)
    sources = tuple(dict.fromkeys(atom.id for _, atoms in sides for atom in atoms))
    links = tuple(Relation(RelationName.LEADS_TO, atoms[0].id, cosine, scene.now) for _, atoms in sides)
    return Atom(
        id=next(scene.ids),
        scope=scene.scope,
        kind="insight",
        content=content,
        observed_at=scene.now,
        entities=(one.name, other.name),
        origin=Origin.DREAM,
        derived_from=sources,
        relations=links,
        status=Status.CONSTRAINED,
        confidence=0.5,
        importance=0.6,
        metadata={TYPE: Proposal.INSIGHT.value, "origin": "bridge", BETWEEN: _key(one, other)},
        **kind_defaults("insight", 0.5, Origin.DREAM),
    )
