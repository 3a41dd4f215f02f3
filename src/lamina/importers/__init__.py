"""Importers of what people already have: readers of exports, notes and vaults, and the function that stores it.

Readers never write.
"""

from lamina.importers.item import ImportedConversation, ImportedDocument, ImportedFact, Item, Problem, Skipped, Step
from lamina.importers.plan import Importer, ImportPlan, detect, import_items, plan_import

__all__ = [
    "ImportPlan",
    "ImportedConversation",
    "ImportedDocument",
    "ImportedFact",
    "Importer",
    "Item",
    "Problem",
    "Skipped",
    "Step",
    "detect",
    "import_items",
    "plan_import",
]
