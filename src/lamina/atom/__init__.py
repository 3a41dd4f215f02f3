"""Define what a memory is, as pure, frozen values: no disk, no database, no clock."""

from lamina.atom.atom import Atom, AtomId, Evidence, Relation, RelationName, Signals
from lamina.atom.passage import Passage, passages_of
from lamina.atom.provenance import Origin, Scope
from lamina.atom.status import Status

__all__ = [
    "Atom",
    "AtomId",
    "Evidence",
    "Origin",
    "Passage",
    "Relation",
    "RelationName",
    "Scope",
    "Signals",
    "Status",
    "passages_of",
]
