"""The graph page: the atoms within a few links of one atom."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from starlette.responses import JSONResponse, Response

from lamina.atom.atom import Atom
from lamina.errors import NotFound
from lamina.memory import Memory
from lamina.text.normal_form import escape_unprintable
from lamina.web.page_request import PageRequest
from lamina.web.template_environment import summarise_atom

MAX_NODES = 150
MAX_DEPTH = 3
_LABEL_LENGTH = 60


@dataclass(frozen=True, slots=True)
class GraphNode:
    """An atom in the graph. `steps`: its distance from the central one."""

    id: str
    label: str
    kind: str
    status: str
    layer: str
    steps: int


@dataclass(frozen=True, slots=True)
class GraphLink:
    """A relation in the graph."""

    source: str
    name: str
    target: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Atoms and the links between them; `cut`: some were left out because there were too many."""

    nodes: tuple[GraphNode, ...]
    links: tuple[GraphLink, ...]
    cut: bool


def show_graph(request: PageRequest) -> Response:
    """Show the graph and its table."""
    center = request.memory.get(request.http_request.path_params["id"])
    depth = max(1, request.int_parameter("depth", 1, MAX_DEPTH))
    neighbours = find_neighbourhood(request.memory, center, depth)
    names = {node.id: node for node in neighbours.nodes}
    depths = range(1, MAX_DEPTH + 1)
    context = {"atom": center, "neighbourhood": neighbours, "names": names, "depth": depth, "depths": depths}
    return request.render("graph.html", context)


def graph_data(request: PageRequest) -> Response:
    """Return the neighbourhood as JSON, for the graph."""
    center = request.memory.get(request.http_request.path_params["id"])
    neighbours = find_neighbourhood(request.memory, center, max(1, request.int_parameter("depth", 1, MAX_DEPTH)))
    return JSONResponse(asdict(neighbours))


def find_neighbourhood(memory: Memory, center: Atom, depth: int) -> Neighbourhood:
    """Return the atoms within `depth` links of an atom."""
    nodes = {center.id: _make_node(center, 0)}
    links: dict[tuple[str, str, str], GraphLink] = {}
    frontier, cut = [center], False
    for steps in range(1, depth + 1):
        reached: list[Atom] = []
        for atom in frontier:
            for link, neighbour in _atom_links(memory, atom):
                if neighbour.id not in nodes:
                    if len(nodes) >= MAX_NODES:
                        cut = True
                        continue
                    nodes[neighbour.id] = _make_node(neighbour, steps)
                    reached.append(neighbour)
                links[link.source, link.name, link.target] = link
        frontier = reached
    return Neighbourhood(tuple(nodes.values()), tuple(links.values()), cut)


def _atom_links(memory: Memory, atom: Atom) -> list[tuple[GraphLink, Atom]]:
    try:
        neighbours = memory.neighbours(atom.id)
    except NotFound:  # erased in the meantime
        return []
    return [
        (GraphLink(edge.source, edge.name, edge.target, edge.confidence), neighbour) for edge, neighbour in neighbours
    ]


def _make_node(atom: Atom, steps: int) -> GraphNode:
    return GraphNode(
        atom.id,
        escape_unprintable(summarise_atom(atom, _LABEL_LENGTH)),
        escape_unprintable(atom.kind),
        atom.status.value,
        atom.layer.value,
        steps,
    )
