"""Read a vault of Remnic or Engram as a whole: its memories, the links between them, its boxes and its identity file.

The memories are read by `foreign_vault`; other notes are documents. State files, which lamina computes itself, are
counted as skipped, so that nothing is left out silently.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lamina.atom.atom import RelationName
from lamina.atom.status import Status
from lamina.capture.caller_input import parse_draft
from lamina.errors import LaminaError
from lamina.importers.documents.regular_file import describe_irregular, is_regular_file, read_regular_file
from lamina.importers.documents.text_decoding import storable_text
from lamina.importers.foreign_vault import REMNIC, open_foreign_vault
from lamina.importers.import_items import (
    ImportedBox,
    ImportedFact,
    ImportedLink,
    ImportedLinks,
    ImportStep,
    SkippedItem,
    content_hash_of,
)
from lamina.importers.lenient_frontmatter import ForeignFrontmatter, parse_leading_moment
from lamina.importers.note_folder import MAX_NOTE_BYTES, NoteFolder, read_note

IDENTITY_FILE = "identity.md"
AGENT = "agent"
"""The subject of what an agent wrote about itself."""
STATE_FOLDER, CAUSAL_LINKS = "state", "causal*.jsonl"
_COMPUTED = "state of the other memory, which this vault computes itself"
_NO_DOCUMENT = "neither a memory nor a document"
_RELATIONS = {
    "contradicts": RelationName.CONTRADICTS,
    "supports": RelationName.SUPPORTS,
    "references": RelationName.ENRICHES,
    "related": RelationName.ENRICHES,
}
"""The relation of each type of link; `follows` leads from the other memory to this one."""
_BOX_KEYS = ("sealedAt", "sealReason", "goal", "toolsUsed", "outcome", "createdAt")
_HEADING_DAY = re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?Z?)?")


@dataclass(frozen=True, slots=True)
class RemnicVault:
    """The steps of a vault: skipped files, memories and documents, then links and boxes, which need the memories."""

    folder: NoteFolder

    @property
    def name(self) -> str:
        """The name of the format."""
        return self.folder.name

    def total(self) -> int:
        """Return the number of steps."""
        identity_files = [file for file in self.folder.files if _is_identity(file)]
        reflections = sum(max(1, len(self._reflections(file))) for file in identity_files)
        notes = len(self.folder.files) - len(identity_files) + reflections
        return notes + len(self._other_files()) + (1 if self._links() else 0)

    def steps(self) -> Iterator[ImportStep]:
        """Yield every step in order."""
        boxes: list[ImportedBox] = []
        for file in self._other_files():
            place = self._place(file)
            reason = _COMPUTED if place.startswith(f"{STATE_FOLDER}/") else _NO_DOCUMENT
            yield SkippedItem(place, describe_irregular(file) or reason)
        for file in self.folder.files:
            box = self._read_box(file)
            reflections = self._reflections(file) if _is_identity(file) else []
            if box is not None:
                boxes.append(box)
            elif reflections:
                yield from reflections
            else:
                yield self.folder.import_file(file)
        yield from boxes
        links = self._links()
        if links:
            parts = sorted(f"{link.source} {link.name} {link.target}" for link in links)
            yield ImportedLinks(tuple(links), self.folder.name, content_hash_of("links", *parts))

    def _place(self, file: Path) -> str:
        return storable_text(file.relative_to(self.folder.path).as_posix())

    def _other_files(self) -> list[Path]:
        """Return the files that are neither notes nor hidden, without the causal links, which are imported."""
        known, others = set(self.folder.files), list[Path]()
        for folder, inner, names in os.walk(self.folder.path):
            inner[:] = sorted(name for name in inner if not name.startswith("."))
            linked = [name for name in inner if Path(folder, name).is_symlink()]
            others += [Path(folder) / name for name in sorted((*names, *linked)) if not name.startswith(".")]
        causal = set(self._causal_files())
        return [file for file in others if file not in known and file not in causal]

    def _causal_files(self) -> list[Path]:
        return sorted(filter(is_regular_file, (self.folder.path / STATE_FOLDER / "graphs").glob(CAUSAL_LINKS)))

    def _read_box(self, file: Path) -> ImportedBox | None:
        front = _read_front(file)
        if front is None or front.text("memoryKind") != "box":
            return None
        foreign_id = front.text("id") or file.stem
        return ImportedBox(
            foreign_id=foreign_id,
            topics=front.list_of("topics"),
            members=front.list_of("memoryIds"),
            trace_id=front.text("traceId"),
            session_id=front.text("sessionKey"),
            observed_at=front.moment("createdAt", "sealedAt"),
            metadata={key: value for key in _BOX_KEYS if (value := _as_text(front, key))},
            path=self._place(file),
            content_hash=content_hash_of("box", foreign_id, *front.list_of("memoryIds")),
        )

    def _reflections(self, file: Path) -> list[ImportedFact]:
        """Return what an agent wrote about itself, a fact for each paragraph; the first person stays the agent."""
        front = _read_front(file)
        paragraphs = re.split(r"\n\s*\n", front.body) if front is not None else []
        facts: list[ImportedFact] = []
        heading = ""
        for paragraph in filter(None, map(str.strip, paragraphs)):
            lines = paragraph.split("\n")
            if lines[0].startswith("#"):
                heading, lines = lines[0].lstrip("# "), lines[1:]
            if text := "\n".join(lines).strip():
                facts.append(self._reflection(file, heading, text))
        return facts

    def _reflection(self, file: Path, heading: str, text: str) -> ImportedFact:
        content_hash = content_hash_of("identity", heading, text)
        foreign_id, day = f"{file.name}#{content_hash[:12]}", _HEADING_DAY.search(heading)
        source_id = f"{self.folder.source}:{file.name}"
        draft = parse_draft(
            content=text,
            kind="insight",
            subject=AGENT,
            metadata={"heading": heading} if heading else {},
            observed_at=parse_leading_moment(day[0]) if day else None,
            source_id=source_id,
            confidence=0.8,
        )
        return ImportedFact(
            draft=draft,
            status=Status.CONSTRAINED,
            foreign_id=foreign_id,
            replaced_by=None,
            source_id=source_id,
            path=self._place(file),
            content_hash=content_hash,
        )

    def _links(self) -> list[ImportedLink]:
        """Return the links that memories name, and the causal links between their files."""
        links, ids = list[ImportedLink](), dict[str, str]()
        for file in self.folder.files:
            front = _read_front(file)
            foreign_id = front.text("id") if front is not None else None
            if front is not None and foreign_id:
                ids[self._place(file)] = foreign_id
                links += _links_of(front, foreign_id)
        for file in self._causal_files():
            links += _causal_links(file, ids)
        return links


def open_memory_vault(path: Path) -> NoteFolder | RemnicVault | None:
    """Return the importer of another memory's vault in a folder; None if it has the format of no other memory."""
    folder = open_foreign_vault(path)
    return RemnicVault(folder) if folder is not None and folder.source == REMNIC.source else folder


def _is_identity(file: Path) -> bool:
    return file.name.lower() == IDENTITY_FILE


def _read_front(file: Path) -> ForeignFrontmatter | None:
    if file.suffix.lower() != ".md":
        return None
    try:
        return read_note(file)
    except (LaminaError, OSError):
        return None


def _as_text(front: ForeignFrontmatter, key: str) -> str:
    return front.text(key) or ", ".join(front.list_of(key))


def _links_of(front: ForeignFrontmatter, foreign_id: str) -> Iterator[ImportedLink]:
    listed = front.values.get("links")
    for entry in listed if isinstance(listed, list) else ():
        if isinstance(entry, dict) and isinstance(target := entry.get("targetId"), str):
            name, strength = str(entry.get("linkType", "")), _fraction(entry.get("strength"))
            if name == "follows":
                yield ImportedLink(target, RelationName.LEADS_TO, foreign_id, strength)
            else:
                yield ImportedLink(foreign_id, _RELATIONS.get(name, RelationName.ENRICHES), target, strength)
    source = front.text("sourceMemoryId")
    if source and source != foreign_id:
        yield ImportedLink(foreign_id, RelationName.SUPPORTS, source, 1.0)


def _causal_links(file: Path, ids: dict[str, str]) -> Iterator[ImportedLink]:
    """Yield the links of a file of lines; an edge without a confidence counts fully, as it did there."""
    for line in read_regular_file(file, MAX_NOTE_BYTES).decode(errors="replace").splitlines():
        try:
            edge = json.loads(line)
        except (ValueError, RecursionError):
            continue
        cause, effect = (ids.get(str(edge.get(key))) for key in ("from", "to")) if isinstance(edge, dict) else ("", "")
        if cause and effect:
            yield ImportedLink(
                effect,
                RelationName.CAUSED_BY,
                cause,
                _fraction(edge.get("confidence")),
                parse_leading_moment(str(edge.get("lastReinforcedAt") or "")),
            )


def _fraction(value: object) -> float:
    try:
        number = float(str(value))
    except ValueError:
        return 1.0
    return number if 0 <= number <= 1 else 1.0
