"""Keyed fingerprints of erased text: they recognise the text when it comes again, and reveal nothing without it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope


class MarkKind(StrEnum):
    """What a fingerprint stands for.

    `VALUE_WITH_TOPIC`: a value with one word of what it is the value of. `SENTENCE_WITH_NEIGHBOUR`: a sentence with
    words that were next to it.
    """

    STATEMENT = "statement"
    SENTENCE = "sentence"
    CLAIM = "claim"
    VALUE = "value"
    ECHO = "echo"
    BESIDE = "beside"


@dataclass(frozen=True, slots=True)
class Mark:
    """A text that was or may have been erased, in normal form. It counts in every scope of an organisation."""

    organisation: str
    kind: MarkKind
    form: str


@dataclass(frozen=True, slots=True)
class Stub:
    """What remains of an erased atom."""

    atom_id: AtomId
    scope: Scope
    at: datetime
    actor: str
    reason: str
    fingerprint: str


class Fingerprints(Protocol):
    """Keyed hashes of erased text, and the stubs of the atoms that contained it."""

    def known(self, marks: Collection[Mark]) -> dict[Mark, datetime]:
        """Return those of the texts that were erased, and when. Fast if nothing was ever erased."""

    def any(self) -> bool:
        """Return whether anything was ever erased."""

    def stub(self, atom_id: str, scopes: Sequence[Scope]) -> Stub | None:
        """Return the stub of the erased atom with this id or id suffix; None if there is none or several."""

    def stubs(self, scopes: Sequence[Scope]) -> list[Stub]:
        """Return the stubs of all erased atoms, oldest erasure first."""
