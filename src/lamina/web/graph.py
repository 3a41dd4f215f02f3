"""The neighbourhood of an atom: what it is linked with, and what that is linked with."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from starlette.responses import JSONResponse, Response

from lamina.atom.atom import Atom
from lamina.errors import NotFound
from lamina.memory import Memory
from lamina.web.paper import gist
from lamina.web.prose import seen
from lamina.web.visit import Visit

MOST_NODES = 150
MOST_DEPTH = 3
_LABEL = 60


@dataclass(frozen=True, slots=True)
class Node:
    """An atom in the picture. `steps`: how far it is from the one in the middle."""

    id: str
    label: str
    kind: str
    status: str
    layer: str
    steps: int


@dataclass(frozen=True, slots=True)
class Link:
    """A link in the picture."""

    source: str
    name: str
    target: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Atoms and the links between them; `cut`: there were more than a picture holds."""

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    cut: bool


def graph(visit: Visit) -> Response:
    """The picture and its table."""
    found = visit.memory.get(visit.request.path_params["id"])
    depth = max(1, visit.number("depth", 1, MOST_DEPTH))
    around = neighbourhood(visit.memory, found, depth)
    names = {node.id: node for node in around.nodes}
    depths = range(1, MOST_DEPTH + 1)
    told = {"atom": found, "around": around, "names": names, "depth": depth, "depths": depths}
    return visit.page("graph.html", told)


def near(visit: Visit) -> Response:
    """The neighbourhood as data, for the picture."""
    found = visit.memory.get(visit.request.path_params["id"])
    around = neighbourhood(visit.memory, found, max(1, visit.number("depth", 1, MOST_DEPTH)))
    return JSONResponse(asdict(around))


def neighbourhood(memory: Memory, middle: Atom, depth: int) -> Neighbourhood:
    """Everything so many links away."""
    nodes = {middle.id: _node(middle, 0)}
    links: dict[tuple[str, str, str], Link] = {}
    edge, cut = [middle], False
    for steps in range(1, depth + 1):
        reached: list[Atom] = []
        for atom in edge:
            for link, other in _links(memory, atom):
                if other.id not in nodes:
                    if len(nodes) >= MOST_NODES:
                        cut = True
                        continue
                    nodes[other.id] = _node(other, steps)
                    reached.append(other)
                links[link.source, link.name, link.target] = link
        edge = reached
    return Neighbourhood(tuple(nodes.values()), tuple(links.values()), cut)


def _links(memory: Memory, atom: Atom) -> list[tuple[Link, Atom]]:
    try:
        found = memory.neighbours(atom.id)
    except NotFound:  # erased while the picture was drawn
        return []
    return [(Link(edge.source, edge.name, edge.target, edge.confidence), other) for edge, other in found]


def _node(atom: Atom, steps: int) -> Node:
    return Node(atom.id, seen(gist(atom, _LABEL)), seen(atom.kind), atom.status.value, atom.layer.value, steps)
