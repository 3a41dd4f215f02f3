"""The graph page: the atoms within a few links of one atom."""

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
    """An atom in the graph. `steps`: its distance from the central one."""

    id: str
    label: str
    kind: str
    status: str
    layer: str
    steps: int


@dataclass(frozen=True, slots=True)
class Link:
    """A relation in the graph."""

    source: str
    name: str
    target: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Atoms and the links between them; `cut`: some were left out because there were too many."""

    nodes: tuple[Node, ...]
    links: tuple[Link, ...]
    cut: bool


def graph(visit: Visit) -> Response:
    """Show the graph and its table."""
    center = visit.memory.get(visit.request.path_params["id"])
    depth = max(1, visit.number("depth", 1, MOST_DEPTH))
    neighbours = neighbourhood(visit.memory, center, depth)
    names = {node.id: node for node in neighbours.nodes}
    depths = range(1, MOST_DEPTH + 1)
    context = {"atom": center, "neighbourhood": neighbours, "names": names, "depth": depth, "depths": depths}
    return visit.page("graph.html", context)


def near(visit: Visit) -> Response:
    """Return the neighbourhood as JSON, for the graph."""
    center = visit.memory.get(visit.request.path_params["id"])
    neighbours = neighbourhood(visit.memory, center, max(1, visit.number("depth", 1, MOST_DEPTH)))
    return JSONResponse(asdict(neighbours))


def neighbourhood(memory: Memory, middle: Atom, depth: int) -> Neighbourhood:
    """Return the atoms within `depth` links of an atom."""
    nodes = {middle.id: _node(middle, 0)}
    links: dict[tuple[str, str, str], Link] = {}
    frontier, cut = [middle], False
    for steps in range(1, depth + 1):
        reached: list[Atom] = []
        for atom in frontier:
            for link, neighbour in _links(memory, atom):
                if neighbour.id not in nodes:
                    if len(nodes) >= MOST_NODES:
                        cut = True
                        continue
                    nodes[neighbour.id] = _node(neighbour, steps)
                    reached.append(neighbour)
                links[link.source, link.name, link.target] = link
        frontier = reached
    return Neighbourhood(tuple(nodes.values()), tuple(links.values()), cut)


def _links(memory: Memory, atom: Atom) -> list[tuple[Link, Atom]]:
    try:
        neighbours = memory.neighbours(atom.id)
    except NotFound:  # erased in the meantime
        return []
    return [(Link(edge.source, edge.name, edge.target, edge.confidence), neighbour) for edge, neighbour in neighbours]


def _node(atom: Atom, steps: int) -> Node:
    return Node(atom.id, seen(gist(atom, _LABEL)), seen(atom.kind), atom.status.value, atom.layer.value, steps)
