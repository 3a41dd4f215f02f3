"""Write links between atoms as wikilinks that a person can click and that carry the id of their target."""

from __future__ import annotations

import re
from collections.abc import Callable

from lamina.atom.atom import AtomId, Evidence, Relation, RelationName, is_atom_id
from lamina.text.timestamps import format_time, parse_time

StemLookup = Callable[[str], str]
"""Returns the file stem for the wikilink to an id."""

ID_LENGTH = 26

_WIKILINK = re.compile(r"\[\[(.+)\]\]", re.DOTALL)
_UNLINKABLE = re.compile(r"[|#]|\.md$|^\s|\s$")
_EVIDENCE = re.compile(r"\[\[(.+)#\^p(\d{1,9})(?:\|(\d{1,9})-(\d{1,9})(?: ([0-9a-z]{26}))?)?\]\]", re.DOTALL)
_RELATION = re.compile(
    r"(\w+) +(\[\[.+\]\]|[^\[ ][^ ]*)(?: +([0-9.][0-9.e-]*))?(?: +(\d{4}-[0-9-]+T[0-9:.]+Z))?", re.DOTALL
)


def read_link(text: str) -> AtomId:
    """Return the id that a link or a bare name points to; the name itself if it carries no id."""
    match = _WIKILINK.fullmatch(text.strip())
    if match is None:
        return AtomId(_id_at_end(text.strip()))
    target, bar, alias = match[1].partition("|")
    if bar and is_atom_id(alias):
        return AtomId(alias)
    return AtomId(_id_at_end(target.partition("#")[0].removesuffix(".md")))


def write_link(target: str, stem_lookup: StemLookup) -> str:
    """Return a wikilink to an atom. If the name of its file does not end with the id, the id is the link's text."""
    if is_atom_id(target):
        stem = stem_lookup(target)
        return f"[[{stem}]]" if stem.endswith(target) else f"[[{stem}|{target}]]"
    return target if _UNLINKABLE.search(target) else f"[[{target}]]"


def read_evidence(text: str) -> Evidence:
    """Return the position in a segment that `[[segment#^p7|12-48]]` names; ValueError if malformed."""
    match = _EVIDENCE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f'{text!r} is not a place in a segment; write "[[segment#^p7|12-48]]"')
    segment, passage, start, end, segment_id = match.groups()
    if segment_id is None or not is_atom_id(segment_id):
        segment_id = _id_at_end(segment)
    return Evidence(segment_id, int(passage), int(start or 0), int(end or 0))


def write_evidence(evidence: Evidence, stem_lookup: StemLookup) -> str:
    """Return the position as a wikilink to its passage."""
    segment = evidence.segment
    stem = stem_lookup(segment) if is_atom_id(segment) else segment
    span = f"{evidence.start}-{evidence.end}" if evidence.start or evidence.end else ""
    if not stem.endswith(segment):
        span = f"{evidence.start}-{evidence.end} {segment}"
    return f"[[{stem}#^p{evidence.passage}{'|' + span if span else ''}]]"


def read_relation(text: str) -> Relation:
    """Return the relation that `depends_on [[fact-01…]] 0.85 2026-11-14T09:12:00Z` names; ValueError if malformed."""
    match = _RELATION.fullmatch(text.strip())
    if match is None:
        raise ValueError(f'{text!r} is not a relation; write "depends_on [[name]] 0.85"')
    name, target, confidence, reinforced_at = match.groups()
    if name not in RelationName.__members__.values():
        raise ValueError(f"{name!r} is not a relation; choose one of {', '.join(RelationName)}")
    strength = float(confidence) if confidence else 1.0
    if strength > 1.0:
        raise ValueError(f"the confidence {confidence} of a relation is above 1")
    return Relation(
        RelationName(name), read_link(target), strength, parse_time(reinforced_at) if reinforced_at else None
    )


def write_relation(relation: Relation, stem_lookup: StemLookup) -> str:
    """Return the relation as text: its name, a wikilink, its confidence unless 1, and when it was last reinforced."""
    words = [relation.name.value, write_link(relation.target, stem_lookup)]
    if relation.confidence != 1.0:
        words.append(repr(relation.confidence))
    if relation.last_reinforced_at is not None:
        words.append(format_time(relation.last_reinforced_at))
    return " ".join(words)


def _id_at_end(name: str) -> str:
    end = name[-ID_LENGTH:]
    return end if is_atom_id(end) else name
