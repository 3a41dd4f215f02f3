"""Plan an import: detect the format by the table of all formats, count the steps, and skip what was imported before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lamina.errors import InvalidInput, NotFound
from lamina.importers.atom_csv_format import open_csv_export
from lamina.importers.chat_export import ChatExport, describe_unreadable_chats, find_conversation_files
from lamina.importers.chat_formats import CHATGPT, CLAUDE
from lamina.importers.documents import DOCUMENT_SUFFIXES, UnreadableDocument, read_document
from lamina.importers.documents.regular_file import SPECIAL_FILE
from lamina.importers.engram_export import open_engram_export
from lamina.importers.foreign_vault import LATTICE, REMNIC
from lamina.importers.import_items import ImportedConversation, ImportProblem, ImportStep, SkippedItem, idempotency_key
from lamina.importers.lamina_export import open_json_export, open_markdown_export
from lamina.importers.note_folder import NoteFolder, refuse_own_vault
from lamina.importers.okf_bundle import open_okf_bundle
from lamina.importers.remnic_vault import open_memory_vault
from lamina.importers.skylattice_export import open_skylattice_export


class Importer(Protocol):
    """One source opened for reading: as many steps as `total` says, always in the same order."""

    @property
    def name(self) -> str: ...

    def total(self) -> int: ...

    def steps(self) -> Iterator[ImportStep]: ...


@dataclass(frozen=True, slots=True)
class SupportedFormat:
    """A format that can be imported; `open` returns None for what it does not recognise."""

    name: str
    open: Callable[[Path], Importer | None]


def _open_notes(path: Path) -> NoteFolder | None:
    """Return the folder of notes or the document at a path; None for an archive, an export or another file."""
    suffix = path.suffix.lower().removeprefix(".")
    if find_conversation_files(path) or suffix == "zip":
        return None
    is_document = not path.is_file() or suffix in DOCUMENT_SUFFIXES or not _describe_unreadable(path)
    return NoteFolder.from_path(path) if is_document else None


def _describe_unreadable(path: Path) -> str:
    """Return why a file cannot be read as a document; empty if it can be, or has no text."""
    try:
        read_document(path)
    except UnreadableDocument as error:
        return "" if error.reason == "it is empty" else f"cannot be read: {error.reason}"
    return ""


FORMATS: tuple[SupportedFormat, ...] = (
    SupportedFormat("export of lamina as json", open_json_export),
    SupportedFormat("export of Skylattice (json)", open_skylattice_export),
    SupportedFormat("export of lamina as csv", open_csv_export),
    SupportedFormat(
        "ChatGPT or Claude export (zip, folder or conversations.json)",
        lambda path: ChatExport.from_path(path, (CHATGPT, CLAUDE)),
    ),
    SupportedFormat("memory of engram (SQLite file or JSON export)", open_engram_export),
    SupportedFormat("OKF bundle", open_okf_bundle),
    SupportedFormat("export of lamina as markdown", open_markdown_export),
    SupportedFormat(f"{LATTICE.name} or {REMNIC.name}", open_memory_vault),
    SupportedFormat("Obsidian vault, folder of notes, or document", _open_notes),
)
"""In the order in which they are tried."""


def open_import(path: Path) -> Importer:
    """Return the first importer that recognises a path; InvalidInput, with all supported formats, if none does."""
    for supported in FORMATS:
        importer = supported.open(path)
        if importer is not None:
            return importer
    is_data = bool(find_conversation_files(path)) or not path.is_file()
    reason = describe_unreadable_chats(path) or ("" if is_data else _describe_unreadable(path))
    reason = reason or "is in an unknown format"
    raise InvalidInput(f"{path.name} {reason}; supported are: {'; '.join(supported.name for supported in FORMATS)}")


IMPORTED_BEFORE = "imported before"

IsKnown = Callable[[str], bool]
"""Whether the item with this idempotency key was imported before."""


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
    if path.is_dir():
        refuse_own_vault(path)
    elif not path.is_file():
        raise InvalidInput(f"{path} is {SPECIAL_FILE}; only files and folders can be imported")
    return open_import(path)


def _without_imported_part(item: ImportedConversation, is_known: IsKnown) -> ImportedConversation:
    """Return the conversation without the part that was imported when it was shorter."""
    for count in range(len(item.prefix_hashes) - 1, 0, -1):
        if is_known(idempotency_key(item.prefix_hashes[count - 1])):
            return item.after(count)
    return item
