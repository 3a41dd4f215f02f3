"""Renders an OKF bundle (Open Knowledge Format 0.1): one concept per file, for programs that do not know lamina.

A concept is markdown with a `type` and ordinary links. The index in the root names the version and every concept, the
log the day on which each was recorded. Ended, forgotten or pending statements are left out, and so are the sentences
they rest on.
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
"""Replaces sentences that are left out; a passage with nothing else is dropped."""
_TIMES = ("valid_from", "valid_until", "expires_at")
_PLAIN = ("subject", "attribute", "value", "source_id", "session_id", "segment_id")
_IN_LINKS = str.maketrans({"[": "(", "]": ")", "\\": "/", "<": "‹", ">": "›"})


def bundle(atoms: Sequence[Atom]) -> Iterator[tuple[str, bytes]]:
    """Return every file of the bundle: its path in the folder and its bytes."""
    sources = Sources(atoms)
    candidates = (_handed(atom, sources) for atom in atoms if atom.status in _STANDS and atom.is_searched)
    exported = [atom for atom in candidates if atom is not None]
    paths: dict[str, str] = {atom.id: _place(atom) for atom in exported}
    titles: dict[str, str] = {atom.id: _title(atom) for atom in exported}
    for atom in exported:
        yield paths[atom.id], _concept(atom, paths, titles).encode()
    yield INDEX, _index(exported, paths, titles).encode()
    yield LOG, _log(exported, paths, titles).encode()


def _handed(atom: Atom, sources: Sources) -> Atom | None:
    """Return the atom as exported: a segment without outdated sentences; None if nothing is left."""
    outdated = sources.over(atom) if atom.is_segment else {}
    if not outdated:
        return atom
    passages = [
        replace(passage, text=_without(passage.text, outdated.get(passage.n, ()))) for passage in passages_of(atom)
    ]
    rendered = [
        render_passage(passage.n, passage.text, passage.speaker, passage.at)
        for passage in passages
        if passage.text.strip(f"{_LEFT_OUT} \n\t")
    ]
    return atom.with_(content="\n\n".join(rendered)) if rendered else None


def _without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    kept, position = "", 0
    for start, end in sorted(spans):
        kept += text[position : max(position, start)] + (_LEFT_OUT if start >= position else "")
        position = max(position, end)
    return kept + text[position:]


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
        f"* {name} [{titles[target].translate(_IN_LINKS)}](/{places[target]})"
        for name, target in _linked(atom)
        if target in places
    ]
    tail = LINKS + "\n".join(links) if links else ""
    return "\n".join(["---", *rows, "---", "", atom.content + tail, ""])


def _linked(atom: Atom) -> Iterator[tuple[str, str]]:
    yield from dict.fromkeys(("rests on", evidence.segment) for evidence in atom.evidence)
    yield from (("replaces", atom_id) for atom_id in atom.supersedes)
    yield from ((relation.name.value.replace("_", " "), relation.target) for relation in atom.relations)


def _index(atoms: Sequence[Atom], places: Mapping[str, str], titles: Mapping[str, str]) -> str:
    by_kind: dict[str, list[Atom]] = defaultdict(list)
    for atom in atoms:
        by_kind[atom.kind].append(atom)
    lines = ["---", f'okf_version: "{VERSION}"', "---", ""]
    for kind, group in sorted(by_kind.items()):
        lines += [f"# {kind}", "", *(f"* {_link(atom, places, titles)}" for atom in group), ""]
    return "\n".join(lines)


def _log(atoms: Sequence[Atom], places: Mapping[str, str], titles: Mapping[str, str]) -> str:
    by_day: dict[str, list[Atom]] = defaultdict(list)
    for atom in atoms:
        by_day[f"{atom.recorded_at or atom.observed_at:%Y-%m-%d}"].append(atom)
    lines = ["# Log", ""]
    for day, group in sorted(by_day.items(), reverse=True):
        lines += [f"## {day}", "", *(f"* **Recorded**: {_link(atom, places, titles)}" for atom in group), ""]
    return "\n".join(lines)


def _link(atom: Atom, places: Mapping[str, str], titles: Mapping[str, str]) -> str:
    return f"[{titles[atom.id].translate(_IN_LINKS)}]({places[atom.id]})"
