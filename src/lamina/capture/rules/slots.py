"""The slot a statement fills: what it is about, which attribute, and the words that fill it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Slot:
    """What a statement is about and, where it fills one, the slot and the words that fill it."""

    subject: str
    attribute: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Told:
    """A statement made otherwise than by a plain clause: its words, its slot and its kind."""

    content: str
    slot: Slot
    kind: str
