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
from lamina.importers.evidence_index import EvidenceIndex
from lamina.importers.okf_bundle import ATOM_ID_KEY, INDEX_FILE, LINKS_HEADING, LOG_FILE
from lamina.text.normal_form import one_line
from lamina.text.timestamps import format_time
from lamina.vault import layout
from lamina.vault.yaml_writer import PlainScalar, YamlValue, emit_entry

VERSION = "0.1"
_EXPORTED_STATUSES = frozenset({Status.ACTIVE, Status.ARCHIVED, Status.CHALLENGED})
_TITLE_CHARS, _DESCRIPTION_CHARS = 80, 240
_OMITTED = "[…]"
"""Replaces sentences that are left out; a passage with nothing else is dropped."""
_TIME_FIELDS = ("valid_from", "valid_until", "expires_at")
_TEXT_FIELDS = ("subject", "attribute", "value", "source_id", "session_id", "segment_id")
_LINK_ESCAPES = str.maketrans({"[": "(", "]": ")", "\\": "/", "<": "‹", ">": "›"})


def render_bundle(atoms: Sequence[Atom]) -> Iterator[tuple[str, bytes]]:
    """Return every file of the bundle: its path in the folder and its bytes."""
    sources = EvidenceIndex(atoms)
    candidates = (_exported(atom, sources) for atom in atoms if atom.status in _EXPORTED_STATUSES and atom.is_searched)
    exported = [atom for atom in candidates if atom is not None]
    paths: dict[str, str] = {atom.id: _path_of(atom) for atom in exported}
    titles: dict[str, str] = {atom.id: _title_of(atom) for atom in exported}
    for atom in exported:
        yield paths[atom.id], _render_concept(atom, paths, titles).encode()
    yield INDEX_FILE, _render_index(exported, paths, titles).encode()
    yield LOG_FILE, _render_log(exported, paths, titles).encode()


def _exported(atom: Atom, sources: EvidenceIndex) -> Atom | None:
    """Return the atom as exported: a segment without outdated sentences; None if nothing is left."""
    outdated = sources.ended_spans(atom) if atom.is_segment else {}
    if not outdated:
        return atom
    passages = [
        replace(passage, text=_without_spans(passage.text, outdated.get(passage.n, ())))
        for passage in passages_of(atom)
    ]
    rendered = [
        render_passage(passage.n, passage.text, passage.speaker, passage.at)
        for passage in passages
        if passage.text.strip(f"{_OMITTED} \n\t")
    ]
    return atom.with_(content="\n\n".join(rendered)) if rendered else None


def _without_spans(text: str, spans: Iterable[tuple[int, int]]) -> str:
    kept, position = "", 0
    for start, end in sorted(spans):
        kept += text[position : max(position, start)] + (_OMITTED if start >= position else "")
        position = max(position, end)
    return kept + text[position:]


def _path_of(atom: Atom) -> str:
    return f"{layout.make_slug(atom.kind, 'fact')}/{layout.make_slug(atom.content, 'atom')}-{atom.id.lower()}.md"


def _title_of(atom: Atom) -> str:
    words = atom.session_id or "conversation" if atom.is_segment else atom.content
    return _shorten(one_line(words), _TITLE_CHARS)


def _shorten(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"


def _render_concept(atom: Atom, paths: Mapping[str, str], titles: Mapping[str, str]) -> str:
    entries: dict[str, YamlValue] = {
        "type": atom.kind,
        "title": titles[atom.id],
        "description": _shorten(one_line(atom.content), _DESCRIPTION_CHARS),
        "timestamp": PlainScalar(format_time(atom.observed_at)),
        "tags": atom.tags,
        "entities": atom.entities,
        **{name: getattr(atom, name) or "" for name in _TEXT_FIELDS},
        **{name: PlainScalar(format_time(at)) for name in _TIME_FIELDS if (at := getattr(atom, name))},
        "status": atom.status.value,
        "origin": atom.origin.value,
        "confidence": PlainScalar(str(atom.confidence)),
        "importance": PlainScalar(str(atom.importance)),
        ATOM_ID_KEY: str(atom.id),
    }
    rows = [row for key, value in entries.items() if value for row in emit_entry(key, value)]
    links = [
        f"* {name} [{titles[target].translate(_LINK_ESCAPES)}](/{paths[target]})"
        for name, target in _links_of(atom)
        if target in paths
    ]
    tail = LINKS_HEADING + "\n".join(links) if links else ""
    return "\n".join(["---", *rows, "---", "", atom.content + tail, ""])


def _links_of(atom: Atom) -> Iterator[tuple[str, str]]:
    yield from dict.fromkeys(("rests on", evidence.segment) for evidence in atom.evidence)
    yield from (("replaces", atom_id) for atom_id in atom.supersedes)
    yield from ((relation.name.value.replace("_", " "), relation.target) for relation in atom.relations)


def _render_index(atoms: Sequence[Atom], paths: Mapping[str, str], titles: Mapping[str, str]) -> str:
    by_kind: dict[str, list[Atom]] = defaultdict(list)
    for atom in atoms:
        by_kind[atom.kind].append(atom)
    lines = ["---", f'okf_version: "{VERSION}"', "---", ""]
    for kind, group in sorted(by_kind.items()):
        lines += [f"# {kind}", "", *(f"* {_link(atom, paths, titles)}" for atom in group), ""]
    return "\n".join(lines)


def _render_log(atoms: Sequence[Atom], paths: Mapping[str, str], titles: Mapping[str, str]) -> str:
    by_day: dict[str, list[Atom]] = defaultdict(list)
    for atom in atoms:
        by_day[f"{atom.recorded_at or atom.observed_at:%Y-%m-%d}"].append(atom)
    lines = ["# Log", ""]
    for day, group in sorted(by_day.items(), reverse=True):
        lines += [f"## {day}", "", *(f"* **Recorded**: {_link(atom, paths, titles)}" for atom in group), ""]
    return "\n".join(lines)


def _link(atom: Atom, paths: Mapping[str, str], titles: Mapping[str, str]) -> str:
    return f"[{titles[atom.id].translate(_LINK_ESCAPES)}]({paths[atom.id]})"
