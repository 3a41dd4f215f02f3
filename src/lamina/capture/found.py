"""What an extractor is given and what it finds: the seam between words and statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.atom import Evidence


@dataclass(frozen=True, slots=True)
class Said:
    """One turn or paragraph as it is kept: its place, its words, who said them and when."""

    segment: str
    n: int
    text: str
    speaker: str | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One statement with the exact sentence it came from.

    `is_sure`: its claim may end other values; otherwise it stands beside them.
    """

    content: str
    kind: str
    evidence: Evidence
    subject: str = ""
    attribute: str | None = None
    value: str | None = None
    confidence: float = 0.95
    valid_from: datetime | None = None
    is_sure: bool = True


class Extractor(Protocol):
    """Reads words and tells what they state. One that is `instant` asks no service and never fails."""

    @property
    def name(self) -> str:
        """What the receipt calls it."""

    @property
    def instant(self) -> bool:
        """Whether nobody has to be asked."""

    def extract(self, turns: Sequence[Said], before: Sequence[Said] = ()) -> list[Finding]:
        """Every statement the turns make, in their order; `before` are the turns that led up to them."""


class AskedFor:
    """Finds nothing by itself, where no model can be loaded: only sentences a person asked to remember are kept."""

    name = "explicit requests only"
    instant = True

    def extract(self, turns: Sequence[Said], before: Sequence[Said] = ()) -> list[Finding]:
        """Return nothing."""
        return []


class Nobody(AskedFor):
    """Switched off: only sentences a person asked to remember become statements, and no changes are looked for."""

    name = "nobody"
