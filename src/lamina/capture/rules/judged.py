"""What is made of a clause before it is told: its kind, how sure it is, and whether it fills a slot."""

from __future__ import annotations

from dataclasses import dataclass

EXPLICIT = 0.95
IMPLIED = 0.85


@dataclass(frozen=True, slots=True)
class Judged:
    """The kind, the confidence, whether it fills a slot, and whether it is worth keeping whatever else it says."""

    kind: str
    confidence: float = EXPLICIT
    claims: bool = True
    sure: bool = False


FACT = Judged("fact")
EVENT = Judged("event")
