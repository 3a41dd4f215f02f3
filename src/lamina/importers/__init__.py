"""Importers of what people already have: readers of exports, notes and vaults, and the function that stores it.

Readers never write.
"""

from lamina.importers.import_items import (
    ImportedConversation,
    ImportedDocument,
    ImportedFact,
    ImportedItem,
    ImportProblem,
    ImportStep,
    SkippedItem,
)
from lamina.importers.import_plan import Importer, ImportPlan, detect_importer, plan_import

__all__ = [
    "ImportPlan",
    "ImportProblem",
    "ImportStep",
    "ImportedConversation",
    "ImportedDocument",
    "ImportedFact",
    "ImportedItem",
    "Importer",
    "SkippedItem",
    "detect_importer",
    "plan_import",
]
