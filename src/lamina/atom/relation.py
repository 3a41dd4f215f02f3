"""Define relations: named links from one atom to another, with a confidence."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from lamina.atom.identity import AtomId


class RelationName(StrEnum):
    """A name of what one atom is to another."""

    CONTRADICTS = "contradicts"
    SUPPORTS = "supports"
    SUPERSEDES = "supersedes"
    CAUSED_BY = "caused_by"
    DEPENDS_ON = "depends_on"
    PART_OF = "part_of"
    IMPLEMENTS = "implements"
    ENRICHES = "enriches"
    LEADS_TO = "leads_to"


@dataclass(frozen=True, slots=True)
class Relation:
    """A link to another atom, as strong as its confidence."""

    name: RelationName
    target: AtomId
    confidence: float = 1.0
    last_reinforced_at: datetime | None = None
