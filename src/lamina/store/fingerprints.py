"""What was erased, as marks by which it is known again and that tell nothing to whoever does not have it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope


class MarkKind(StrEnum):
    """What a mark stands for. `echo`: a value together with one word of what it is the value of; `beside`: a sentence
    together with words that stood next to it."""

    STATEMENT = "statement"
    SENTENCE = "sentence"
    CLAIM = "claim"
    VALUE = "value"
    ECHO = "echo"
    BESIDE = "beside"


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that was or may have been erased, in normal form. It holds for every scope of an organisation."""

    organisation: str
    kind: MarkKind
    form: str


@dataclass(frozen=True, slots=True)
class Stub:
    """What is left of an erased atom."""

    atom_id: AtomId
    scope: Scope
    at: datetime
    actor: str
    reason: str
    fingerprint: str


class Fingerprints(Protocol):
    """Keyed hashes of what was erased, and the stubs of the atoms it stood in."""

    def known(self, marks: Collection[Mark]) -> dict[Mark, datetime]:
        """Those of the marks that were erased, and when. Where nothing ever was, this costs nothing."""

    def any(self) -> bool:
        """Whether anything was ever erased."""

    def stub(self, atom_id: str, scopes: Sequence[Scope]) -> Stub | None:
        """What is left of the atom with this id, or with this ending of an id."""

    def stubs(self, scopes: Sequence[Scope]) -> list[Stub]:
        """What is left of every erased atom, oldest erasure first."""
