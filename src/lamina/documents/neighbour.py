"""The atoms linked to or from one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from lamina.documents.atom import AtomDocument, atom_document
from lamina.documents.document import Document

if TYPE_CHECKING:
    from lamina.memory import Memory


class NeighbourDocument(Document):
    """A link and the atom at its other end."""

    direction: Literal["out", "in"]
    relation: str
    confidence: float
    atom: AtomDocument


def neighbour_documents(memory: Memory, id: str) -> list[NeighbourDocument]:
    """What is linked with an atom."""
    atom = memory.get(id)
    return [
        NeighbourDocument(
            direction="out" if edge.source == atom.id else "in",
            relation=edge.name,
            confidence=edge.confidence,
            atom=atom_document(other, memory.path_of(other.id)),
        )
        for edge, other in memory.neighbours(atom.id)
    ]
