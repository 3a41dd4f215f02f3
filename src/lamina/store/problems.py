"""Problems that a person should know of, and the `Problems` port."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.atom import AtomId


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A problem with a file or an atom that a person should know of; `doctor` lists it until it is fixed."""

    path: str
    kind: str
    message: str
    line: int = 0
    atom_id: AtomId | None = None
    at: datetime | None = None


class Problems(Protocol):
    """Problems by path and kind. A path names a file, a folder, or a dream step of a scope."""

    def list(self) -> list[FileProblem]:
        """Return all problems, oldest first."""

    def report(self, problem: FileProblem) -> None:
        """Add a problem; it replaces the one of the same kind at the same path."""

    def clear(self, path: str, kinds: Iterable[str] | None = None) -> None:
        """Remove the problems of a path, all or those of some kinds."""
