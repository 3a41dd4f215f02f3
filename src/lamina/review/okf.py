"""An OKF bundle (Open Knowledge Format 0.1): what stands, one concept a file, for programs that know nothing of lamina.

A concept is markdown with a `type`; its links are ordinary ones. The root's index names the version and every concept,
the log tells on which day each was recorded. What is over, taken back or waits for review is not handed to others, and
neither are the words that said it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from lamina.atom.atom import Atom
from lamina.atom.passage import passages_of, render_passage
from lamina.atom.status import Status
from lamina.importers.okf import INDEX, LINKS, LOG, OWN_ID
from lamina.importers.sources import Sources
from lamina.text.normal import one_line
from lamina.text.times import format_time
from lamina.vault import layout
from lamina.vault.emit_yaml import Emitted, Plain, emit_entry

VERSION = "0.1"
_STANDS = frozenset({Status.ACTIVE, Status.ARCHIVED, Status.CHALLENGED})
_TITLE, _DESCRIPTION = 80, 240
_LEFT_OUT = "[…]"
"""Stands where words were that are over; what consists of nothing else says nothing."""
_TIMES = ("valid_from", "valid_until", "expires_at")
_PLAIN = ("subject", "attribute", "value", "source_id", "session_id", "segment_id")
_IN_LINKS = str.maketrans({"[": "(", "]": ")", "\\": "/", "<": "‹", ">": "›"})


def bundle(atoms: Sequence[Atom]) -> Iterator[tuple[str, bytes]]:
    """Every file of the bundle: where it stands in the folder, and its bytes."""
    sources = Sources(atoms)
    told = (_handed(atom, sources) for atom in atoms if atom.status in _STANDS and atom.is_searched)
    standing = [atom for atom in told if atom is not None]
    places: dict[str, str] = {atom.id: _place(atom) for atom in standing}
    titles: dict[str, str] = {atom.id: _title(atom) for atom in standing}
    for atom in standing:
        yield places[atom.id], _concept(atom, places, titles).encode()
    yield INDEX, _index(standing, places, titles).encode()
    yield LOG, _log(standing, places, titles).encode()


def _handed(atom: Atom, sources: Sources) -> Atom | None:
    """An atom as others get it: of a conversation only what still holds, and nothing where nothing does."""
    over = sources.over(atom) if atom.is_segment else {}
    if not over:
        return atom
    kept = [replace(passage, text=_without(passage.text, over.get(passage.n, ()))) for passage in passages_of(atom)]
    left = [
        render_passage(each.n, each.text, each.speaker, each.at)
        for each in kept
        if each.text.strip(f"{_LEFT_OUT} \n\t")
    ]
    return atom.with_(content="\n\n".join(left)) if left else None


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    found, at = "", 0
    for start, end in sorted(spans):
        found += text[at : max(at, start)] + (_LEFT_OUT if start >= at else "")
        at = max(at, end)
    return found + text[at:]


def _place(atom: Atom) -> str:
    return f"{layout.slug(atom.kind, 'fact')}/{layout.slug(atom.content, 'atom')}-{atom.id.lower()}.md"


def _title(atom: Atom) -> str:
    words = atom.session_id or "conversation" if atom.is_segment else atom.content
    return _cut(one_line(words), _TITLE)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def _concept(atom: Atom, places: Mapping[str, str], titles: Mapping[str, str]) -> str:
    entries: dict[str, Emitted] = {
        "type": atom.kind,
        "title": titles[atom.id],
        "description": _cut(one_line(atom.content), _DESCRIPTION),
        "timestamp": Plain(format_time(atom.observed_at)),
        "tags": atom.tags,
        "entities": atom.entities,
        **{name: getattr(atom, name) or "" for name in _PLAIN},
        **{name: Plain(format_time(at)) for name in _TIMES if (at := getattr(atom, name))},
        "status": atom.status.value,
        "origin": atom.origin.value,
        "confidence": Plain(str(atom.confidence)),
        "importance": Plain(str(atom.importance)),
        OWN_ID: str(atom.id),
    }
    rows = [row for key, value in entries.items() if value for row in emit_entry(key, value)]
    links = [
        f"* {name} [{titles[each].translate(_IN_LINKS)}](/{places[each]})"
        for name, each in _linked(atom)
        if each in places
    ]
    tail = LINKS + "\n".join(links) if links else ""
    return "\n".join(["---", *rows, "---", "", atom.content + tail, ""])


def _linked(atom: Atom) -> Iterator[tuple[str, str]]:
    yield from dict.fromkeys(("rests on", each.segment) for each in atom.evidence)
    yield from (("replaces", supersede) for supersede in atom.supersedes)
    yield from ((relation.name.value.replace("_", " "), relation.target) for relation in atom.relations)


def _index(atoms: Sequence[Atom], places: Mapping[str, str], titles: Mapping[str, str]) -> str:
    by_kind: dict[str, list[Atom]] = defaultdict(list)
    for atom in atoms:
        by_kind[atom.kind].append(atom)
    lines = ["---", f'okf_version: "{VERSION}"', "---", ""]
    for kind, found in sorted(by_kind.items()):
        lines += [f"# {kind}", "", *(f"* {_link(atom, places, titles)}" for atom in found), ""]
    return "\n".join(lines)


def _log(atoms: Sequence[Atom], places: Mapping[str, str], titles: Mapping[str, str]) -> str:
    by_day: dict[str, list[Atom]] = defaultdict(list)
    for atom in atoms:
        by_day[f"{atom.recorded_at or atom.observed_at:%Y-%m-%d}"].append(atom)
    lines = ["# Log", ""]
    for day, found in sorted(by_day.items(), reverse=True):
        lines += [f"## {day}", "", *(f"* **Recorded**: {_link(atom, places, titles)}" for atom in found), ""]
    return "\n".join(lines)


def _link(atom: Atom, places: Mapping[str, str], titles: Mapping[str, str]) -> str:
    return f"[{titles[atom.id].translate(_IN_LINKS)}]({places[atom.id]})"
