"""Define proposals: pending statements whose metadata says what confirming them changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

from lamina.atom.atom import DATA_FIELDS, FIXED_FIELDS, Atom, Evidence

PROPOSAL_TYPE_KEY = "proposal_type"
EDITED_FIELDS_KEY = "edited_fields"
"""The metadata key of the fields of another atom that the proposal of a file edit wants to set."""
EDITED_FILE_KEY = "edited_file"
FORGET_PLACES_KEY = "forget_places"
"""The metadata key of the sentences that a forget proposal is about, each as segment:passage:start:end."""
ARCHIVED_ELSEWHERE_KEY = "archived_elsewhere"
"""The metadata key of an imported statement that was archived in its memory: confirming it archives it here."""
_NOT_PROPOSABLE = FIXED_FIELDS | {"status", "supersedes", "superseded_by", "derived_from"}
PROPOSABLE_FIELDS = tuple(name for name in DATA_FIELDS if name not in _NOT_PROPOSABLE)
"""The fields that a pending edit may set: lineage and statuses follow from decisions."""


class ProposalType(StrEnum):
    """A type of decision that a person has to make."""

    PROFILE_UPDATE = "profile_update"
    SEMANTIC_COMPACTION = "semantic_compaction"
    PROCEDURAL_CANONICAL = "procedural_canonical"
    PROCEDURAL_DEDUP = "procedural_dedup"
    FILE_EDIT = "file_edit"
    INSIGHT = "insight"
    FORGET = "forget"


PROCEDURE_PROPOSALS = frozenset({ProposalType.PROCEDURAL_CANONICAL, ProposalType.PROCEDURAL_DEDUP})


def proposal_type_of(atom: Atom) -> ProposalType | None:
    """Return what the atom proposes; None for an ordinary statement."""
    declared = next(
        (proposal_type for proposal_type in ProposalType if proposal_type == atom.metadata.get(PROPOSAL_TYPE_KEY)), None
    )
    if declared is not None:
        return declared
    return ProposalType.PROFILE_UPDATE if atom.metadata.get("profile_key") and not atom.attribute else None


def edited_values(atom: Atom) -> dict[str, Any]:
    """Return the fields that the proposal of an edit wants to set."""
    names = atom.metadata_text(EDITED_FIELDS_KEY).split()
    values = {name: getattr(atom, name) for name in PROPOSABLE_FIELDS if name in names}
    if "metadata" in values:
        values["metadata"] = {
            key: value
            for key, value in atom.metadata.items()
            if key not in (PROPOSAL_TYPE_KEY, EDITED_FIELDS_KEY, EDITED_FILE_KEY)
        }
    return values


def format_places(places: Iterable[Evidence]) -> str:
    """Return sentences as the text that a forget proposal stores."""
    return " ".join(f"{place.segment}:{place.passage}:{place.start}:{place.end}" for place in places)


def parse_places(atom: Atom) -> Iterator[Evidence]:
    """Yield the sentences that a forget proposal is about; malformed entries, which a person may edit, are skipped."""
    for place in atom.metadata_text(FORGET_PLACES_KEY).split():
        segment, *numbers = place.split(":")
        if len(numbers) == 3 and all(number.isdecimal() for number in numbers):
            yield Evidence(segment, *map(int, numbers))
