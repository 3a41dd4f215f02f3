"""The JSON document of an erasure: what was removed where, and which copies lamina cannot reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.documents.json_document import JsonDocument

if TYPE_CHECKING:
    from lamina.review.erase import ErasureReceipt


class ErasureDocument(JsonDocument):
    """The receipt of an erasure."""

    commit: str | None
    erased: list[str]
    removed: dict[str, int]
    still_in: list[str]
    outside: list[str]
    finished: bool


def erasure_document(receipt: ErasureReceipt) -> ErasureDocument:
    """Return the document of an erasure receipt."""
    return ErasureDocument(
        commit=receipt.commit,
        erased=list(receipt.erased),
        removed=dict(receipt.removed),
        still_in=list(receipt.still_in),
        outside=list(receipt.outside),
        finished=receipt.finished,
    )
