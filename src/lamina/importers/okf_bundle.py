"""Read OKF bundles (Open Knowledge Format): a folder of markdown concepts, each with a `type`.

A concept that lamina exported is imported as the atom it was, within the trust of an import; any other concept is
imported as a note.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lamina.atom.atom import Atom
from lamina.errors import LaminaError
from lamina.importers.foreign_frontmatter import ForeignFrontmatter
from lamina.importers.import_items import ImportProblem, ImportStep
from lamina.importers.lamina_export import import_step, parse_entry
from lamina.importers.note_folder import NoteFolder, find_notes, read_note
from lamina.text.normal_form import one_line
from lamina.text.timestamps import format_time

INDEX_FILE, LOG_FILE = "index.md", "log.md"
"""File names that the format reserves in every folder."""
ATOM_ID_KEY = "lamina_id"
LINKS_HEADING = "\n\n## Links\n\n"
"""Separates an atom's text from the links to other concepts."""
_TEXT_FIELDS = ("status", "subject", "attribute", "value", "origin", "source_id", "session_id", "segment_id")
_NUMBER_FIELDS = ("confidence", "importance")
_TIME_FIELDS = ("valid_from", "valid_until", "expires_at")


@dataclass(frozen=True, slots=True)
class OkfBundle:
    """The concepts of a bundle, ordered by name."""

    folder: NoteFolder
    name: str = "OKF bundle"

    @classmethod
    def from_path(cls, path: Path) -> OkfBundle | None:
        """Return the bundle in a folder, or None if its index does not declare one."""
        index = path / INDEX_FILE
        try:
            if not index.is_file() or read_note(index).text("okf_version") is None:
                return None
        except LaminaError:
            return None
        files = tuple(file for file in find_notes(path, ()) if file.name not in (INDEX_FILE, LOG_FILE))
        return cls(NoteFolder(path, files, "okf"))

    def total(self) -> int:
        return self.folder.total()

    def steps(self) -> Iterator[ImportStep]:
        for file in self.folder.files:
            yield self._import_file(file)

    def _import_file(self, file: Path) -> ImportStep:
        place = self.folder.relative_path(file)
        try:
            front = read_note(file) if file.suffix.lower() == ".md" else ForeignFrontmatter({}, "")
        except (LaminaError, OSError) as error:
            return ImportProblem(place, one_line(str(error)))
        if front.text(ATOM_ID_KEY) is None:
            return self.folder.import_file(file)
        _, entry = parse_entry(place, lambda: _record(front))
        return import_step(entry, place) if isinstance(entry, Atom) else entry


def _record(frontmatter: ForeignFrontmatter) -> dict[str, object]:
    observed = frontmatter.moment("timestamp")
    if observed is None:
        raise ValueError("it has no timestamp")
    words, links, _ = frontmatter.body.strip("\n").rpartition(LINKS_HEADING)
    record: dict[str, object] = {
        "id": frontmatter.text(ATOM_ID_KEY),
        "kind": frontmatter.text("type"),
        "scope": "",
        "observed_at": format_time(observed),
        "content": words if links else frontmatter.body.strip("\n"),
        "tags": list(frontmatter.list_of("tags")),
        "entities": list(frontmatter.list_of("entities")),
        **{name: format_time(at) for name in _TIME_FIELDS if (at := frontmatter.moment(name))},
        **{name: value for name in _TEXT_FIELDS if (value := frontmatter.text(name))},
        **{name: share for name in _NUMBER_FIELDS if (share := frontmatter.fraction(name)) is not None},
    }
    return record
