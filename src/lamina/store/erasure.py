"""Erasure: text leaves the journal for good, and the work on files that is still to be done survives a crash."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from lamina.atom.atom import Atom, AtomId
from lamina.atom.provenance import Scope
from lamina.store.erasure_fingerprints import FingerprintText


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """The content to erase from the journal, in one commit.

    `erased_ids`: atoms of which only a stub stays. `rewritten`: every version of other atoms without the erased text,
    oldest first. `quotes_erased`: whether a text outside of versions (a reason, a message) quotes the erased text; the
    second argument says that it belongs to an erased atom, where a weaker match is enough. `search_json`: what has to
    be removed from copies in files; it is stored until that is done.
    """

    actor: str
    reason: str
    scope: Scope
    erased_ids: tuple[AtomId, ...]
    rewritten: Mapping[AtomId, Sequence[Atom]]
    fingerprint_texts: tuple[FingerprintText, ...]
    fingerprints: Mapping[AtomId, FingerprintText]
    quotes_erased: Callable[[str, bool], bool]
    search_json: str


@dataclass(frozen=True, slots=True)
class PendingErasure:
    """An erasure of which the files may not be cleaned yet.

    `search_json` is empty once they are, and only free space has to be scrubbed.
    """

    seq: int
    commit: str
    at: datetime
    erased_ids: tuple[AtomId, ...]
    rewritten_ids: tuple[AtomId, ...]
    paths: tuple[str, ...]
    search_json: str
    version_count: int


class Erasures(Protocol):
    """Removes text from a store. The change of the journal is one durable step; the rest can be finished later."""

    def find_mentions(self, words: Collection[str], scopes: Sequence[Scope]) -> list[AtomId]:
        """Return the atoms of which any version contains one of these words, in normal form."""

    def apply(self, erasure: Erasure) -> PendingErasure:
        """Remove the text from the journal and the ledger; the hash chain still verifies."""

    def pending(self) -> list[PendingErasure]:
        """Return the erasures that are not finished, oldest first."""

    def mark_files_done(self, erasure: PendingErasure, contains_erased: Callable[[bytes], bool]) -> None:
        """Store that no file contains the text any more; delete what was needed to search, and copies that do."""

    def scrub(self) -> None:
        """Remove every byte of erased text from free space, logs and indexes; then every erasure is finished."""
