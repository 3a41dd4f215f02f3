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
from lamina.importers.folder import Folder, notes, read_note
from lamina.importers.front import Front
from lamina.importers.item import Problem, Step
from lamina.importers.own import atom_at, step_of
from lamina.text.normal import one_line
from lamina.text.times import format_time

INDEX, LOG = "index.md", "log.md"
"""File names that the format reserves in every folder."""
OWN_ID = "lamina_id"
LINKS = "\n\n## Links\n\n"
"""Separates an atom's text from the links to other concepts."""
_PLAIN = ("status", "subject", "attribute", "value", "origin", "source_id", "session_id", "segment_id")
_SHARES = ("confidence", "importance")
_TIMES = ("valid_from", "valid_until", "expires_at")


@dataclass(frozen=True, slots=True)
class Bundle:
    """The concepts of a bundle, ordered by name."""

    folder: Folder
    name: str = "OKF bundle"

    @classmethod
    def at(cls, path: Path) -> Bundle | None:
        """Return the bundle in a folder, or None if its index does not declare one."""
        index = path / INDEX
        try:
            if not index.is_file() or read_note(index).text("okf_version") is None:
                return None
        except LaminaError:
            return None
        files = tuple(file for file in notes(path, ()) if file.name not in (INDEX, LOG))
        return cls(Folder(path, files, "okf"))

    def total(self) -> int:
        return self.folder.total()

    def steps(self) -> Iterator[Step]:
        for file in self.folder.files:
            yield self._step(file)

    def _step(self, file: Path) -> Step:
        place = self.folder.place(file)
        try:
            front = read_note(file) if file.suffix.lower() == ".md" else Front({}, "")
        except (LaminaError, OSError) as error:
            return Problem(place, one_line(str(error)))
        if front.text(OWN_ID) is None:
            return self.folder.step(file)
        _, entry = atom_at(place, lambda: _record(front))
        return step_of(entry, place) if isinstance(entry, Atom) else entry


def _record(front: Front) -> dict[str, object]:
    observed = front.moment("timestamp")
    if observed is None:
        raise ValueError("it has no timestamp")
    words, links, _ = front.body.strip("\n").rpartition(LINKS)
    record: dict[str, object] = {
        "id": front.text(OWN_ID),
        "kind": front.text("type"),
        "scope": "",
        "observed_at": format_time(observed),
        "content": words if links else front.body.strip("\n"),
        "tags": list(front.names("tags")),
        "entities": list(front.names("entities")),
        **{name: format_time(at) for name in _TIMES if (at := front.moment(name))},
        **{name: value for name in _PLAIN if (value := front.text(name))},
        **{name: share for name in _SHARES if (share := front.share(name)) is not None},
    }
    return record
