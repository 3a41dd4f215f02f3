"""What a statement that waits is proposed for: its metadata says so, and confirming it does more than let it count."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

from lamina.atom.atom import DATA_FIELDS, FIXED_FIELDS, Atom, Evidence

TYPE = "proposal_type"
EDITED = "edited_fields"
"""Which fields of another atom the proposal of a file's edit wants to set."""
FILE = "edited_file"
PLACES = "forget_places"
"""Which sentences a question whether to forget is about, each as segment:passage:start:end."""
_DECIDED = FIXED_FIELDS | {"status", "supersedes", "superseded_by", "derived_from"}
PROPOSABLE = tuple(name for name in DATA_FIELDS if name not in _DECIDED)
"""What an edit that waits may set: links of descent and statuses follow from decisions."""


class Proposal(StrEnum):
    """What a person is asked for."""

    PROFILE_UPDATE = "profile_update"
    SEMANTIC_COMPACTION = "semantic_compaction"
    PROCEDURAL_CANONICAL = "procedural_canonical"
    PROCEDURAL_DEDUP = "procedural_dedup"
    FILE_EDIT = "file_edit"
    INSIGHT = "insight"
    FORGET = "forget"


PROCEDURES = frozenset({Proposal.PROCEDURAL_CANONICAL, Proposal.PROCEDURAL_DEDUP})


def proposal_of(atom: Atom) -> Proposal | None:
    """What the atom is proposed for; None where it is a statement like any other."""
    told = next((each for each in Proposal if each == atom.metadata.get(TYPE)), None)
    if told is not None:
        return told
    return Proposal.PROFILE_UPDATE if atom.metadata.get("profile_key") and not atom.attribute else None


def edited_values(atom: Atom) -> dict[str, Any]:
    """What the proposal of an edit wants to set, by field."""
    told = atom.metadata.get(EDITED, "").split()
    wanted = {name: getattr(atom, name) for name in PROPOSABLE if name in told}
    if "metadata" in wanted:
        wanted["metadata"] = {key: value for key, value in atom.metadata.items() if key not in (TYPE, EDITED, FILE)}
    return wanted


def write_places(places: Iterable[Evidence]) -> str:
    """Write sentences as a question whether to forget names them."""
    return " ".join(f"{place.segment}:{place.passage}:{place.start}:{place.end}" for place in places)


def read_places(atom: Atom) -> Iterator[Evidence]:
    """Yield the sentences a question whether to forget is about; a person may have written anything there."""
    for each in atom.metadata.get(PLACES, "").split():
        segment, *numbers = each.split(":")
        if len(numbers) == 3 and all(number.isdecimal() for number in numbers):
            yield Evidence(segment, *map(int, numbers))
