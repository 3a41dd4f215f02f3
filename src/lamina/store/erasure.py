"""Erasing: words leave the journal for good, and what is left to be done about files survives a crash."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope
from lamina.store.fingerprints import Mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What is to be erased from the journal, in one commit.

    `gone`: atoms of which nothing stays but a stub. `retold`: every version of other atoms as it shall be told from
    now on, oldest first. `quoted`: whether a text that belongs to no version (a reason, a message) tells it too; the
    second argument says that it stands with an atom that is gone, where less is enough.
    `sought`: what has to be struck from copies in files, as JSON; it is kept until that is done.
    """

    actor: str
    reason: str
    scope: Scope
    gone: tuple[AtomId, ...]
    retold: Mapping[AtomId, Sequence[Atom]]
    marks: tuple[Mark, ...]
    fingerprints: Mapping[AtomId, Mark]
    quoted: Callable[[str, bool], bool]
    sought: str


@dataclass(frozen=True, slots=True)
class Unfinished:
    """An erasure that files may not have followed yet. `sought` is empty once they have, and only bytes are left."""

    seq: int
    commit: str
    at: datetime
    gone: tuple[AtomId, ...]
    touched: tuple[AtomId, ...]
    paths: tuple[str, ...]
    sought: str
    versions: int


class Erasures(Protocol):
    """Takes words out of a store. What it does to the journal is one durable step; the rest can be finished later."""

    def mentioning(self, words: Collection[str], scopes: Sequence[Scope]) -> list[AtomId]:
        """The atoms any version of which holds one of these words, in normal form."""

    def apply(self, erasure: Erasure) -> Unfinished:
        """Take the words out of the journal and the ledger; the hash chain still verifies."""

    def unfinished(self) -> list[Unfinished]:
        """Erasures that were begun and not finished, oldest first."""

    def struck(self, erasure: Unfinished, holds: Callable[[bytes], bool]) -> None:
        """Files hold nothing of it any more: what had to be known for that is let go, with copies that still do."""

    def scrub(self) -> None:
        """Leave no byte of what was erased in free space, logs and indexes; then every erasure is finished."""
