"""Read OKF bundles (Open Knowledge Format): a folder of markdown concepts, each with a `type`.

A concept that lamina exported is imported as the atom it was, within the trust of an import; any other concept is
imported as a note.
"""

from __future__ import annotations

from pathlib import Path

from lamina.atom.atom import Atom
from lamina.errors import LaminaError
from lamina.importers.import_items import ImportStep
from lamina.importers.lamina_export import import_step, parse_entry
from lamina.importers.lenient_frontmatter import ForeignFrontmatter
from lamina.importers.note_folder import NoteFolder, list_folder, read_note
from lamina.text.timestamps import format_time
from lamina.vault.frontmatter_fields import SIGNAL_FIELDS

INDEX_FILE, LOG_FILE = "index.md", "log.md"
"""File names that the format reserves in every folder."""
ATOM_ID_KEY = "lamina_id"
LINKS_HEADING = "\n\n## Links\n\n"
"""Separates an atom's text from the links to other concepts."""
_TEXT_FIELDS = ("status", "subject", "attribute", "value", "origin", "source_id", "session_id", "segment_id")
_NUMBER_FIELDS = ("confidence", "importance")
_TIME_FIELDS = ("valid_from", "valid_until", "expires_at")


def open_okf_bundle(path: Path) -> NoteFolder | None:
    """Return the concepts of the bundle in a folder, or None if its index does not declare one."""
    index = path / INDEX_FILE
    try:
        if not index.is_file() or read_note(index).text("okf_version") is None:
            return None
    except LaminaError:
        return None
    listed, skipped = list_folder(path)
    files = tuple(file for file in listed if file.name not in (INDEX_FILE, LOG_FILE))
    return NoteFolder(path, files, skipped, "okf", "OKF bundle", _parse_concept)


def _parse_concept(frontmatter: ForeignFrontmatter, place: str) -> ImportStep | None:
    if frontmatter.text(ATOM_ID_KEY) is None:
        return None
    _, entry, signals = parse_entry(place, lambda: _record(frontmatter))
    return import_step(entry, place, signals=signals) if isinstance(entry, Atom) else entry


def _record(frontmatter: ForeignFrontmatter) -> dict[str, object]:
    observed = frontmatter.moment("timestamp")
    if observed is None:
        raise ValueError("it has no timestamp")
    words, links, _ = frontmatter.body.strip("\n").rpartition(LINKS_HEADING)
    return {
        "id": frontmatter.text(ATOM_ID_KEY),
        "kind": frontmatter.text("type"),
        "scope": "",
        "observed_at": format_time(observed),
        "content": words if links else frontmatter.body.strip("\n"),
        "tags": list(frontmatter.list_of("tags")),
        "entities": list(frontmatter.list_of("entities")),
        **{name: format_time(at) for name in _TIME_FIELDS if (at := frontmatter.moment(name))},
        **{name: value for name in (*_TEXT_FIELDS, *SIGNAL_FIELDS) if (value := frontmatter.text(name))},
        **{name: share for name in _NUMBER_FIELDS if (share := frontmatter.fraction(name)) is not None},
    }
