"""Handle what a person has to decide: proposals (pending statements) and pairs (statements that contradict each other).

Both are stored in the metadata of statements. Of a pair, `both_valid` names the statements that are valid beside one,
`need_more` those about which more information is needed and until when they are not listed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from enum import StrEnum
from typing import Any

from lamina.atom.atom import DATA_FIELDS, FIXED_FIELDS, Atom, AtomId, Evidence, Relation, RelationName
from lamina.text.timestamps import format_time, parse_time_or_none

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


SURE_CONFIDENCE = 0.75
"""Contradictions below this confidence come from similarity alone and change no status."""
LIKELY_CHANGE_CONFIDENCE = 0.4
"""The confidence of a contradiction that only a model found; it is reviewed where the answer matters."""
BOTH_VALID, NEED_MORE, NEED_MORE_NOTE = "both_valid", "need_more", "need_more_note"


def contradictions(atom: Atom) -> Iterator[Relation]:
    """Return the relations by which an atom contradicts others."""
    return (relation for relation in atom.relations if relation.name is RelationName.CONTRADICTS)


def has_sure_contradiction(atom: Atom) -> bool:
    """Return whether an atom contradicts an active one for sure, so that it was never active itself."""
    return any(not is_uncertain_contradiction(contradiction) for contradiction in contradictions(atom))


def is_uncertain_contradiction(link: Relation) -> bool:
    """Return whether a relation is a contradiction found by similarity alone."""
    return link.name is RelationName.CONTRADICTS and link.confidence < SURE_CONFIDENCE


def find_pair_link(one: Atom, other: Atom) -> Relation | None:
    """Return the contradiction with the highest confidence between two atoms; None if there is none."""
    relations = [contradiction for contradiction in contradictions(one) if contradiction.target == other.id]
    relations += [contradiction for contradiction in contradictions(other) if contradiction.target == one.id]
    return max(relations, key=lambda relation: relation.confidence, default=None)


def remove_contradiction(atom: Atom, other: AtomId) -> Atom:
    """Return the atom without its contradiction of another."""
    remaining = tuple(
        relation
        for relation in atom.relations
        if not (relation.name is RelationName.CONTRADICTS and relation.target == other)
    )
    return atom.with_(relations=remaining) if remaining != atom.relations else atom


def are_both_valid(one: Atom, other: Atom) -> bool:
    """Return whether a person decided that both are valid; they are not linked as a contradiction again."""
    return other.id in _read_names(one, BOTH_VALID) or one.id in _read_names(other, BOTH_VALID)


def mark_both_valid(atom: Atom, other: AtomId) -> Atom:
    """Return the atom with the decision that another is valid beside it."""
    ids = tuple(dict.fromkeys((*_read_names(atom, BOTH_VALID), other)))
    return atom.with_(metadata={**atom.metadata, BOTH_VALID: " ".join(ids)})


def next_review_at(one: Atom, other: Atom) -> datetime | None:
    """Return when a pair that needs more information is shown again; None if it was not postponed."""
    for atom, name in ((one, other.id), (other, one.id)):
        for entry in _read_names(atom, NEED_MORE):
            other_id, _, until = entry.partition("@")
            if other_id == name:
                return parse_time_or_none(until)
    return None


def mark_need_more(atom: Atom, other: AtomId, until: datetime, note: str) -> Atom:
    """Return the atom with the decision that more information about it and another is needed."""
    remaining = [entry for entry in _read_names(atom, NEED_MORE) if not entry.startswith(other)]
    decision = {NEED_MORE: " ".join((*remaining, f"{other}@{format_time(until)}")), NEED_MORE_NOTE: note}
    return atom.with_(metadata={**atom.metadata, **decision})


def _read_names(atom: Atom, key: str) -> list[str]:
    return atom.metadata_text(key).split()
