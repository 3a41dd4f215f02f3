"""The base of every JSON document: immutable, with exactly the keys it declares."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class JsonDocument(BaseModel):
    """A JSON document with stable keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def data(self) -> dict[str, Any]:
        """Return the document as JSON values."""
        return self.model_dump(mode="json")
