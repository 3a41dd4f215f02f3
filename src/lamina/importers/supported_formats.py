"""The table of all formats that can be imported: their names, and what opens them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lamina.errors import InvalidInput
from lamina.importers.atom_csv_format import open_csv_export
from lamina.importers.chat_export import ChatExport, describe_unreadable_chats, find_conversation_files
from lamina.importers.chat_formats import CHATGPT, CLAUDE
from lamina.importers.documents import DOCUMENT_SUFFIXES, UnreadableDocument, read_document
from lamina.importers.engram_export import open_engram_export
from lamina.importers.foreign_vault import LATTICE, REMNIC
from lamina.importers.import_items import ImportStep
from lamina.importers.lamina_export import open_json_export, open_markdown_export
from lamina.importers.note_folder import NoteFolder
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
