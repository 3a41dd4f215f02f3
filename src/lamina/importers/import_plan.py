"""Plan an import: detect the format, count the steps, and skip what was imported before."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lamina.errors import InvalidInput, NotFound
from lamina.importers.chat_export import ChatExport
from lamina.importers.chat_formats import CHATGPT, CLAUDE
from lamina.importers.csv_export import open_csv_export
from lamina.importers.foreign_vault import open_foreign_vault
from lamina.importers.import_items import ImportedConversation, ImportProblem, ImportStep, SkippedItem, idempotency_key
from lamina.importers.lamina_export import open_json_export, open_markdown_export
from lamina.importers.note_folder import NoteFolder, refuse_own_vault
from lamina.importers.okf_bundle import open_okf_bundle

IMPORTED_BEFORE = "imported before"

IsKnown = Callable[[str], bool]
"""Whether the item with this idempotency key was imported before."""


class Importer(Protocol):
    """One source opened for reading: as many steps as `total` says, always in the same order."""

    @property
    def name(self) -> str: ...

    def total(self) -> int: ...

    def steps(self) -> Iterator[ImportStep]: ...


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """The steps of an import; `total` is their number."""

    path: Path
    importer: Importer
    total: int

    def steps(self, is_known: IsKnown = lambda key: False) -> Iterator[ImportStep]:
        """Yield every step in order.

        A known item is skipped; of a conversation that grew only the new part is imported.
        """
        seen_keys: set[str] = set()
        for step in self.importer.steps():
            if isinstance(step, ImportProblem | SkippedItem):
                yield step
            elif step.key in seen_keys or is_known(step.key):
                yield SkippedItem(step.path, "duplicate of another item" if step.key in seen_keys else IMPORTED_BEFORE)
            else:
                seen_keys.add(step.key)
                yield _without_imported_part(step, is_known) if isinstance(step, ImportedConversation) else step


def plan_import(path: Path) -> ImportPlan:
    """Return the plan for a path; NotFound or InvalidInput, with the supported formats, if it cannot be imported."""
    importer = detect_importer(path)
    return ImportPlan(path, importer, importer.total())


def detect_importer(path: Path) -> Importer:
    """Return the importer for a path; NotFound if nothing is there, InvalidInput if its format is unknown."""
    if not path.exists():
        raise NotFound(f"there is no file or folder at {path}")
    exported = open_json_export(path) or open_csv_export(path) or ChatExport.from_path(path, (CHATGPT, CLAUDE))
    if exported is not None:
        return exported
    if path.is_file():
        if zipfile.is_zipfile(path) and path.suffix.lower() == ".zip":
            raise InvalidInput(f"{path.name} contains no conversations.json; unpack it and import the folder")
        return NoteFolder.from_path(path)
    refuse_own_vault(path)
    bundle = open_okf_bundle(path) or open_markdown_export(path) or open_foreign_vault(path)
    return bundle or NoteFolder.from_path(path)


def _without_imported_part(item: ImportedConversation, is_known: IsKnown) -> ImportedConversation:
    """Return the conversation without the part that was imported when it was shorter."""
    for count in range(len(item.prefix_hashes) - 1, 0, -1):
        if is_known(idempotency_key(item.prefix_hashes[count - 1])):
            return item.after(count)
    return item
