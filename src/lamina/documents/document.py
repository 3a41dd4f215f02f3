"""What every document shares: it is made once, never changed, and holds just the keys it declares."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


class Document(BaseModel):
    """Something told to the outside, with keys that stay."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    def data(self) -> dict[str, Any]:
        """The document as JSON values."""
        return self.model_dump(mode="json")
