"""An import from beginning to end: whose format it is, how much there is, and what of it is not known yet."""

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
"""Whether something with this key has been imported."""


class Importer(Protocol):
    """One source opened for reading: as many steps as the total says, always in the same order."""

    @property
    def name(self) -> str: ...

    def total(self) -> int: ...

    def steps(self) -> Iterator[Step]: ...


@dataclass(frozen=True, slots=True)
class ImportPlan:
    """What an import will go through; `total` is the number of steps."""

    path: Path
    importer: Importer
    total: int

    def steps(self, known: Known = lambda key: False) -> Iterator[Step]:
        """Every step in order. What is known is skipped, and of a conversation that grew only the rest is told."""
        seen: set[str] = set()
        for step in self.importer.steps():
            if isinstance(step, Problem | Skipped):
                yield step
            elif step.key in seen or known(step.key):
                yield Skipped(step.path, "the same as another" if step.key in seen else BEFORE)
            else:
                seen.add(step.key)
                yield _rest(step, known) if isinstance(step, ImportedConversation) else step


def plan_import(path: Path) -> ImportPlan:
    """The plan for what lies at a path, or InvalidInput that names what can be imported."""
    importer = detect(path)
    return ImportPlan(path, importer, importer.total())


def import_items(path: Path, known: Known = lambda key: False) -> Iterator[Item | Problem]:
    """What there is to import at a path and is not known yet, and what could not be read."""
    for step in plan_import(path).steps(known):
        if not isinstance(step, Skipped):
            yield step


def detect(path: Path) -> Importer:
    """The importer for what lies at a path."""
    if not path.exists():
        raise NotFound(f"there is nothing at {path}")
    own = own_json(path) or own_table(path)
    if own is not None:
        return own
    export = Export.at(path)
    if export is not None:
        return _exported(export)
    if path.is_file():
        if zipfile.is_zipfile(path) and path.suffix.lower() == ".zip":
            raise InvalidInput(f"{path.name} holds no conversations.json; unpack it and import the folder")
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
    what = "is an export of a format not known here"
    if first is None or isinstance(first, Problem):
        what = f"cannot be read: {first.reason}" if first else "holds no conversations"
    raise InvalidInput(f"{export.path.name} {what}; what can be imported is {KNOWN_FORMATS}")


def _rest(item: ImportedConversation, known: Known) -> ImportedConversation:
    """The conversation without what was imported of it when it was shorter."""
    for count in range(len(item.marks) - 1, 0, -1):
        if known(key_of(item.marks[count - 1])):
            return item.after(count)
    return item
