"""Hits as text for an agent: sectioned, within a budget, fenced as data."""

from __future__ import annotations

from collections.abc import Sequence

from lamina.atom.atom import Atom
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.passage import Passage

CHARS_PER_TOKEN = 4
NOTHING = "nothing known"
TOO_LITTLE = "something is known, but the budget has no room for it"
_OPEN, _CLOSE = "<memories>", "</memories>"


def pack(found: Sequence[tuple[Atom, Passage]], budget: int) -> str:
    """Sections profile, rules, facts and evidence; each item with id, origin, status and date. Data, never orders."""
    room = budget * CHARS_PER_TOKEN - len(_OPEN) - len(_CLOSE) - 2
    sections: dict[str, list[str]] = {"profile": [], "rules": [], "facts": [], "evidence": []}
    for atom, passage in found:
        line = _line(atom, passage)
        name = _section(atom)
        cost = len(line) + 1 + (0 if sections[name] else len(name) + 4)
        if cost > room:
            continue
        room -= cost
        sections[name].append(line)
    told = [f"## {name}\n" + "\n".join(lines) for name, lines in sections.items() if lines]
    if found and not told:
        told = [_cut(*found[0], room)]
    return "\n".join([_OPEN, *(told or [NOTHING]), _CLOSE])


def _cut(atom: Atom, passage: Passage, room: int) -> str:
    """As much of the best hit as there is room for."""
    line = f"## {_section(atom)}\n{_line(atom, passage)}"
    head = line.index("] ") + 2
    return f"{line[: room - 2]}…" if room > head + 2 else TOO_LITTLE


def _section(atom: Atom) -> str:
    if atom.is_segment or atom.memory_type is MemoryType.NARRATIVE:
        return "evidence"
    if atom.memory_type is MemoryType.PROCEDURE:
        return "rules"
    return "profile" if atom.layer is Layer.PROFILE else "facts"


def _line(atom: Atom, passage: Passage) -> str:
    at = passage.at or atom.observed_at
    said = f"{passage.speaker}: {passage.text}" if passage.speaker else passage.text
    text = " ".join(said.split()).replace("<", "‹").replace(">", "›")
    return f"- [{atom.id} {atom.origin} {atom.status} {at:%Y-%m-%d}] {text}"
