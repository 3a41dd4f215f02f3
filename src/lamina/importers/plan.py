"""Plan an import: detect the format, count the steps, and skip what was imported before."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lamina.errors import InvalidInput, NotFound
from lamina.importers.chatgpt import ChatGPT
from lamina.importers.claude import Claude
from lamina.importers.export import Export
from lamina.importers.folder import Folder, refuse_own_vault
from lamina.importers.item import ImportedConversation, Item, Problem, Skipped, Step, key_of
from lamina.importers.lattice import LATTICE
from lamina.importers.okf import Bundle
from lamina.importers.own import own_json, own_markdown
from lamina.importers.remnic import REMNIC
from lamina.importers.table import own_table
from lamina.importers.vault import Vault, spoken_by

KNOWN_FORMATS = (
    "a ChatGPT or Claude export (zip, folder or conversations.json), an export of lamina, an OKF bundle, a folder of "
    "notes, or a document"
)
BEFORE = "imported before"

Known = Callable[[str], bool]
"""Whether the item with this idempotency key was imported before."""


class Importer(Protocol):
    """One source opened for reading: as many steps as `total` says, always in the same order."""

    @property
    def name(self) -> str: ...

    def total(self) -> int: ...

    def steps(self) -> Iterator[Step]: ...


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """The steps of an import; `total` is their number."""

    path: Path
    importer: Importer
    total: int

    def steps(self, known: Known = lambda key: False) -> Iterator[Step]:
        """Yield every step in order.

        A known item is skipped; of a conversation that grew only the new part is imported.
        """
        seen_keys: set[str] = set()
        for step in self.importer.steps():
            if isinstance(step, Problem | Skipped):
                yield step
            elif step.key in seen_keys or known(step.key):
                yield Skipped(step.path, "duplicate of another item" if step.key in seen_keys else BEFORE)
            else:
                seen_keys.add(step.key)
                yield _rest(step, known) if isinstance(step, ImportedConversation) else step


def plan_import(path: Path) -> ImportPlan:
    """Return the plan for a path; NotFound or InvalidInput, with the supported formats, if it cannot be imported."""
    importer = detect(path)
    return ImportPlan(path, importer, importer.total())


def import_items(path: Path, known: Known = lambda key: False) -> Iterator[Item | Problem]:
    """Yield the items at a path that were not imported before, and the problems."""
    for step in plan_import(path).steps(known):
        if not isinstance(step, Skipped):
            yield step


def detect(path: Path) -> Importer:
    """Return the importer for a path; NotFound if nothing is there, InvalidInput if its format is unknown."""
    if not path.exists():
        raise NotFound(f"there is no file or folder at {path}")
    exported = own_json(path) or own_table(path)
    if exported is not None:
        return exported
    export = Export.at(path)
    if export is not None:
        return _exported(export)
    if path.is_file():
        if zipfile.is_zipfile(path) and path.suffix.lower() == ".zip":
            raise InvalidInput(f"{path.name} contains no conversations.json; unpack it and import the folder")
        return Folder.at(path)
    refuse_own_vault(path)
    bundle = Bundle.at(path) or own_markdown(path)
    if bundle is not None:
        return bundle
    dialect = spoken_by(path, (LATTICE, REMNIC))
    return Vault.at(path, dialect) if dialect else Folder.at(path)


def _exported(export: Export) -> Importer:
    first = export.first()
    if ChatGPT.claims(first):
        return ChatGPT(export)
    if Claude.claims(first):
        return Claude(export)
    what = "is an export in an unknown format"
    if first is None or isinstance(first, Problem):
        what = f"cannot be read: {first.reason}" if first else "contains no conversations"
    raise InvalidInput(f"{export.path.name} {what}; import {KNOWN_FORMATS}")


def _rest(item: ImportedConversation, known: Known) -> ImportedConversation:
    """Return the conversation without the part that was imported when it was shorter."""
    for count in range(len(item.marks) - 1, 0, -1):
        if known(key_of(item.marks[count - 1])):
            return item.after(count)
    return item
