"""What a write did, told outcome by outcome."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.store.base import CommitId


class Result(StrEnum):
    """What became of one thing that was said."""

    KEPT = "kept"
    NEW = "new"
    DUPLICATE = "duplicate"
    SUPERSEDES = "supersedes"
    SUPERSEDED = "superseded"
    CHALLENGED = "challenged"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One atom and what happened to it, with the reason."""

    result: Result
    atom: Atom
    reason: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """Every outcome of a write. `commit` undoes it; None where nothing had to change."""

    commit: CommitId | None
    outcomes: tuple[Outcome, ...]
    repeated: bool = False

    @property
    def atom(self) -> Atom:
        """The atom the write was about."""
        return self.outcomes[0].atom
