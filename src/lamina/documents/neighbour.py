"""The JSON document of the atoms that are linked to or from an atom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lamina.documents.atom import AtomDocument, atom_document
from lamina.documents.json_document import JsonDocument

if TYPE_CHECKING:
    from lamina.memory import Memory


class NeighbourDocument(JsonDocument):
    """A relation and the atom at its other end."""

    direction: Literal["out", "in"]
    relation: str
    confidence: float
    atom: AtomDocument


def neighbour_documents(memory: Memory, id: str) -> list[NeighbourDocument]:
    """Return the atoms linked to or from an atom; NotFound if there is none with this id."""
    atom = memory.get(id)
    return [
        NeighbourDocument(
            direction="out" if edge.source == atom.id else "in",
            relation=edge.name,
            confidence=edge.confidence,
            atom=atom_document(neighbour, memory.path_of(neighbour.id)),
        )
        for edge, neighbour in memory.neighbours(atom.id)
    ]
