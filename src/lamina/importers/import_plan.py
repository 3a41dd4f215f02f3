"""Plan an import: detect the format, count the steps, and skip what was imported before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lamina.errors import InvalidInput, NotFound
from lamina.importers.documents.regular_file import SPECIAL_FILE
from lamina.importers.import_items import ImportedConversation, ImportProblem, ImportStep, SkippedItem, idempotency_key
from lamina.importers.note_folder import refuse_own_vault
from lamina.importers.supported_formats import Importer, open_import

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
