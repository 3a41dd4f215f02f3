"""Step 4, bridge: two names that nothing links, and of which much the same is said. A person says whether it means
anything."""

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
"""How many statements name each side, and between which cosines two sides are neither the same nor strangers."""
MOST_NAMES, MOST_ATOMS = 1000, 20
"""Of so many names, those most spoken of, and of so many statements each, the newest, a centre is made."""
NEAREST = 3
BETWEEN = "between"
_DIGITS = 4
_UNENDED = frozenset({*RECALL_WEIGHT, Status.CHALLENGED, Status.CONSTRAINED})


@dataclass(frozen=True, slots=True)
class Side:
    """A name, the statements that name it, their vectors, and the centre of these."""

    name: str
    atoms: tuple[Atom, ...]
    vectors: Floats
    centre: Floats

    def nearest(self, to: Floats) -> tuple[Atom, ...]:
        """The statements nearest to a centre."""
        near = np.round(self.vectors @ to, _DIGITS).tolist()
        order = sorted(range(len(self.atoms)), key=lambda n: (-near[n], self.atoms[n].id))
        return tuple(self.atoms[n] for n in order[:NEAREST])


def bridge(scene: Scene) -> Plan:
    """Propose an insight about the likest pairs of names that nothing links; none unless insights are wanted."""
    if not scene.insights:
        return Plan()
    made = [
        each
        for each in scene.store.read(Filter(scopes=(scene.scope,), kinds=frozenset({"insight"})))
        if each.origin is Origin.DREAM and BETWEEN in each.metadata
    ]
    left = A_DAY - sum(scene.now - each.observed_at < DAY for each in made)
    if left <= 0:
        return Plan(notes=(f"{A_DAY} insights a day are enough",))
    embedder = scene.embedder()
    if embedder is None:
        return Plan(notes=("without an embedder nothing tells which names are alike",))
    decided = {each.metadata[BETWEEN] for each in made}
    changes, moves = list[Atom](), list[Move]()
    for cosine, one, other in _alike(_sides(scene, embedder.model.id)):
        if len(changes) == left:
            break
        if _key(one, other) not in decided and not _are_linked(one, other, scene):
            insight = _insight(one, other, cosine, scene)
            changes.append(insight)
            moves.append(
                Move("propose", insight.id, insight.content[:80], f"cosine {cosine:.2f}, and nothing links them")
            )
    return Plan(tuple(changes), tuple(moves))


def _sides(scene: Scene, model: str) -> list[Side]:
    """The names much is said of, the most spoken of first."""
    by_name: dict[str, dict[AtomId, Atom]] = defaultdict(dict)
    called: dict[str, str] = {}
    for atom in scene.stated():
        for name in (*atom.entities, atom.subject):
            form = normal_form(name)
            if form and not is_role(name):
                by_name[form][atom.id] = atom
                called.setdefault(form, name)
    order = sorted(
        (form for form in by_name if len(by_name[form]) >= LEAST), key=lambda each: (-len(by_name[each]), each)
    )
    chosen = {form: tuple(by_name[form].values())[:MOST_ATOMS] for form in order[:MOST_NAMES]}
    ids = sorted({atom.id for atoms in chosen.values() for atom in atoms})
    vectors = scene.store.encodings.vectors(model, ids) if ids else {}
    sides = (_side(called[form], atoms, vectors) for form, atoms in chosen.items())
    return [side for side in sides if side is not None]


def _side(name: str, atoms: Sequence[Atom], vectors: Mapping[AtomId, Floats]) -> Side | None:
    known = tuple(atom for atom in atoms if atom.id in vectors)
    if len(known) < LEAST:
        return None
    rows = np.stack([vectors[each.id][0] for each in known]).astype(np.float32)
    centre = rows.mean(axis=0)
    length = float(np.linalg.norm(centre))
    return Side(name, known, rows, centre / np.float32(length)) if length else None


def _alike(sides: Sequence[Side]) -> Iterator[tuple[float, Side, Side]]:
    """The pairs that are alike and not the same, the likest first."""
    if len(sides) < 2:
        return
    centres = np.stack([side.centre for side in sides])
    cosines = np.round(centres @ centres.T, _DIGITS)
    rows, columns = np.nonzero(np.triu((cosines >= FAR) & (cosines <= NEAR), 1))
    found = [(float(cosines[i, j]), sides[i], sides[j]) for i, j in zip(rows.tolist(), columns.tolist(), strict=True)]
    yield from sorted(found, key=lambda each: (-each[0], _key(each[1], each[2])))


def _key(one: Side, other: Side) -> str:
    return " | ".join(sorted((normal_form(one.name), normal_form(other.name))))


def _are_linked(one: Side, other: Side, scene: Scene) -> bool:
    """Whether a path of three hops leads from one name to the other: over one atom, or over two that are linked."""
    here, there = (_naming(each, scene) for each in (one, other))
    if here & there:
        return True
    edges = scene.store.edges(sorted(here), (scene.scope,), _UNENDED)
    ends = ({edge.source, edge.target} for edge in edges if edge.confidence >= PRUNED_BELOW)
    return any(end & here and end & there for end in ends)


def _naming(side: Side, scene: Scene) -> set[str]:
    form = normal_form(side.name)
    shared = {f"entity:{form}", f"subject:{form}"}
    edges = scene.store.edges(sorted(shared), (scene.scope,), _UNENDED)
    return {str(edge.source) for edge in edges if edge.target in shared}


def _insight(one: Side, other: Side, cosine: float, scene: Scene) -> Atom:
    sides = (one.name, one.nearest(other.centre)), (other.name, other.nearest(one.centre))
    writer = scene.writer
    content = written(writer, *sides) if writer is not None else told_by_template(*sides)
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
