"""Keyed fingerprints of erased text: they recognise the text when it comes again, and reveal nothing without it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from lamina.atom.atom import AtomId
from lamina.atom.provenance import Scope


class FingerprintKind(StrEnum):
    """The kind of text that a fingerprint stands for.

    `VALUE_WITH_TOPIC`: a value with one word of what it is the value of. `SENTENCE_WITH_NEIGHBOUR`: a sentence with
    words that were next to it.
    """

    STATEMENT = "statement"
    SENTENCE = "sentence"
    CLAIM = "claim"
    VALUE = "value"
    VALUE_WITH_TOPIC = "echo"
    SENTENCE_WITH_NEIGHBOUR = "beside"


@dataclass(frozen=True, slots=True)
class FingerprintText:
    """A text that was or may have been erased, in normal form. It counts in every scope of an organisation."""

    organisation: str
    kind: FingerprintKind
    form: str


@dataclass(frozen=True, slots=True)
class ErasureStub:
    """The stub that remains of an erased atom."""

    atom_id: AtomId
    scope: Scope
    at: datetime
    actor: str
    reason: str
    fingerprint: str


class Fingerprints(Protocol):
    """Keyed hashes of erased text, and the stubs of the atoms that contained it."""

    def find_erased(self, texts: Collection[FingerprintText]) -> dict[FingerprintText, datetime]:
        """Return those of the texts that were erased, and when. Fast if nothing was ever erased."""

    def has_any(self) -> bool:
        """Return whether anything was ever erased."""

    def find_stub(self, atom_id: str, scopes: Sequence[Scope]) -> ErasureStub | None:
        """Return the stub of the erased atom with this id or id suffix; None if there is none or several."""

    def list_stubs(self, scopes: Sequence[Scope]) -> list[ErasureStub]:
        """Return the stubs of all erased atoms, oldest erasure first."""
