"""Define proposals: pending statements whose metadata says what confirming them changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

from lamina.atom.atom import DATA_FIELDS, FIXED_FIELDS, Atom, Evidence

TYPE = "proposal_type"
EDITED = "edited_fields"
"""The metadata key of the fields of another atom that the proposal of a file edit wants to set."""
FILE = "edited_file"
PLACES = "forget_places"
"""The metadata key of the sentences that a forget proposal is about, each as segment:passage:start:end."""
_DECIDED = FIXED_FIELDS | {"status", "supersedes", "superseded_by", "derived_from"}
PROPOSABLE = tuple(name for name in DATA_FIELDS if name not in _DECIDED)
"""The fields that a pending edit may set: lineage and statuses follow from decisions."""


class Proposal(StrEnum):
    """What a person is asked to decide."""

    PROFILE_UPDATE = "profile_update"
    SEMANTIC_COMPACTION = "semantic_compaction"
    PROCEDURAL_CANONICAL = "procedural_canonical"
    PROCEDURAL_DEDUP = "procedural_dedup"
    FILE_EDIT = "file_edit"
    INSIGHT = "insight"
    FORGET = "forget"


PROCEDURES = frozenset({Proposal.PROCEDURAL_CANONICAL, Proposal.PROCEDURAL_DEDUP})


def proposal_of(atom: Atom) -> Proposal | None:
    """Return what the atom proposes; None for an ordinary statement."""
    declared = next((proposal_type for proposal_type in Proposal if proposal_type == atom.metadata.get(TYPE)), None)
    if declared is not None:
        return declared
    return Proposal.PROFILE_UPDATE if atom.metadata.get("profile_key") and not atom.attribute else None


def edited_values(atom: Atom) -> dict[str, Any]:
    """Return the fields that the proposal of an edit wants to set."""
    names = atom.metadata.get(EDITED, "").split()
    values = {name: getattr(atom, name) for name in PROPOSABLE if name in names}
    if "metadata" in values:
        values["metadata"] = {key: value for key, value in atom.metadata.items() if key not in (TYPE, EDITED, FILE)}
    return values


def write_places(places: Iterable[Evidence]) -> str:
    """Return sentences as the text that a forget proposal stores."""
    return " ".join(f"{place.segment}:{place.passage}:{place.start}:{place.end}" for place in places)


def read_places(atom: Atom) -> Iterator[Evidence]:
    """Yield the sentences that a forget proposal is about; malformed entries, which a person may edit, are skipped."""
    for place in atom.metadata.get(PLACES, "").split():
        segment, *numbers = place.split(":")
        if len(numbers) == 3 and all(number.isdecimal() for number in numbers):
            yield Evidence(segment, *map(int, numbers))
