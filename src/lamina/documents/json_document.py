"""The base of every JSON document: immutable, with exactly the keys it declares."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from lamina.text.timestamps import format_time


def _format_if_time(value: object) -> object:
    return format_time(value) if isinstance(value, datetime) else value


UtcTime = Annotated[
    str, BeforeValidator(_format_if_time), Field(description="A time in UTC, such as 2026-03-02T09:00:00Z.")
]


class JsonDocument(BaseModel):
    """A JSON document with stable keys."""

    model_config = ConfigDict(extra="forbid", frozen=True, from_attributes=True)

    @classmethod
    def of(cls, source: object, **others: Any) -> Self:
        """Return the document of an object: its keys are in `others`, or are attributes of the object."""
        attributes = {name: getattr(source, name) for name in cls.model_fields if name not in others}
        return cls(**attributes, **others)

    def data(self) -> dict[str, Any]:
        """Return the document as JSON values."""
        return self.model_dump(mode="json")
