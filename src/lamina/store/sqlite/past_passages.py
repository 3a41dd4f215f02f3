"""Past passages: texts that atoms had once and no longer have, searched only for a past `known_at`.

They are in a table of their own, are scored with the statistics of the recallable passages and do not change them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from lamina.atom.atom import Atom, AtomId
from lamina.atom.passage import Passage, passage_digest, passages_of
from lamina.store.sqlite.atoms import find_rewritten, past_versions
from lamina.store.sqlite.database import Database

SCHEMA = """
CREATE TABLE former(
  id INTEGER PRIMARY KEY, atom INTEGER NOT NULL, n INTEGER NOT NULL, length INTEGER NOT NULL, tokens TEXT NOT NULL,
  digest BLOB NOT NULL, speaker TEXT NOT NULL, at INTEGER NOT NULL, asks INTEGER NOT NULL,
  tells_of INTEGER);
CREATE INDEX former_of ON former(atom);
"""

PastPassages: TypeAlias = Mapping[AtomId, Sequence[tuple[Atom, Passage]]]
"""For each atom, its past passages, each with the version that had it."""


def past_table(scope: int) -> str:
    """Return the name of the text table for past passages of a scope."""
    return f"former_{scope}"


def past_passages_of(
    journal_db: Database, heads: Mapping[AtomId, Atom], since: int, indexed: set[AtomId]
) -> PastPassages:
    """Return the past passages of atoms whose text may have changed after a position, and of those in `indexed`."""
    return {
        atom_id: list(_find_past(heads[atom_id], past_versions(journal_db, atom_id, heads[atom_id])))
        for atom_id in sorted(find_rewritten(journal_db, heads, since) | indexed)
    }


def _find_past(head: Atom, versions: Sequence[Atom]) -> Iterator[tuple[Atom, Passage]]:
    """Yield each past passage once, with its version, if the head does not have it."""
    identities = {_identity(head, passage) for passage in _searched_passages(head)}
    for version in versions:
        for passage in _searched_passages(version):
            identity = _identity(version, passage)
            if identity not in identities:
                identities.add(identity)
                yield version, passage


def _searched_passages(atom: Atom) -> tuple[Passage, ...]:
    return passages_of(atom) if atom.is_searched else ()


def _identity(atom: Atom, passage: Passage) -> tuple[int, bytes, str]:
    return passage.n, passage_digest(atom, passage), passage.speaker or ""
