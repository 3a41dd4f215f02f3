"""The JSON document of why an atom matters: the factors of its importance, and what ageing does with it."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING

from lamina.documents.json_document import JsonDocument

if TYPE_CHECKING:
    from lamina.lifecycle.importance_report import ImportanceReport

_DIGITS = 4


class FactorDocument(JsonDocument):
    """One factor of the importance: its value from 0 to 1, its weight, and their product."""

    name: str
    value: float
    weight: float
    contribution: float


class ImportanceDocument(JsonDocument):
    """The effective importance, which is the sum of the contributions, and the ageing of an atom.

    `half_life_days` is null if it does not fade.
    """

    importance: float
    factors: list[FactorDocument]
    retention: float
    half_life_days: float | None
    heat: float
    state: str
    ageing: dict[str, str]


def importance_document(report: ImportanceReport) -> ImportanceDocument:
    """Return the document of a report."""
    return ImportanceDocument(
        importance=round(report.importance, _DIGITS),
        factors=[
            FactorDocument(
                name=factor.name,
                value=round(factor.value, _DIGITS),
                weight=factor.weight,
                contribution=round(factor.contribution, _DIGITS),
            )
            for factor in report.factors
        ],
        retention=round(report.retention, _DIGITS),
        half_life_days=round(report.half_life_days, _DIGITS) if isfinite(report.half_life_days) else None,
        heat=round(report.heat, _DIGITS),
        state=report.state,
        ageing=dict(report.ageing),
    )
