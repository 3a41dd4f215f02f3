"""Define what a memory is, as pure, frozen values: no disk, no database, no clock."""

from lamina.atom.atom import Atom, Evidence, Signals, Validity
from lamina.atom.claim import Claim, claim_of
from lamina.atom.identity import AtomId, IdSource, is_atom_id
from lamina.atom.kinds import KINDS, Durability, Kind, Layer, MemoryType, kind_traits
from lamina.atom.passage import Passage, passages_of
from lamina.atom.relation import Relation, RelationName
from lamina.atom.scope import Scope, parse_scope, readable_scopes
from lamina.atom.status import Status
from lamina.atom.trust import Origin, trust_of

__all__ = [
    "KINDS",
    "Atom",
    "AtomId",
    "Claim",
    "Durability",
    "Evidence",
    "IdSource",
    "Kind",
    "Layer",
    "MemoryType",
    "Origin",
    "Passage",
    "Relation",
    "RelationName",
    "Scope",
    "Signals",
    "Status",
    "Validity",
    "claim_of",
    "is_atom_id",
    "kind_traits",
    "parse_scope",
    "passages_of",
    "readable_scopes",
    "trust_of",
]
