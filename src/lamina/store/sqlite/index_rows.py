"""Atoms and passages as rows of the index, current and past ones, and the batch in which they are written.

Past passages are texts that atoms had once and no longer have, searched only for a past `known_at`. They are in a table
of their own, are scored with the statistics of the recallable passages and do not change them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from lamina.atom.atom import Atom, AtomId
from lamina.atom.kinds import kind_traits
from lamina.atom.passage import Passage, passage_digest, passage_search_text, passages_of
from lamina.atom.provenance import Scope
from lamina.store.graph import LISTS
from lamina.store.sqlite.atoms import find_rewritten, past_versions
from lamina.store.sqlite.database import Database
from lamina.text.analyser import analyse
from lamina.text.normal_form import normal_form
from lamina.text.time_windows import find_mentioned_spans
from lamina.text.timestamps import to_millis

_TIME_SEARCH_CHARS = 2000
"""Number of characters of a passage that are searched for a mentioned time."""
_QUESTION_MARKS = ("?", "？", "؟")


@dataclass(frozen=True, slots=True)
class IndexedAtom:
    """An atom as the index stores it."""

    id: int
    scope: int
    is_shelved: bool
    has_past: bool = False


@dataclass(frozen=True, slots=True)
class IndexedPassage:
    """A passage as the index stores it."""

    tokens: str
    digest: bytes
    speaker: str
    at: int
    is_question: bool
    mentioned_at: int | None


def join_agents(agents: Sequence[str]) -> str:
    """Return the agents that an atom names as one text; `splitlines` returns them again."""
    return "\n".join(agent.casefold() for agent in agents)


def to_indexed(atom: Atom, passage: Passage) -> IndexedPassage:
    """Return the passage as the index stores it."""
    at = passage.at or atom.observed_at
    return IndexedPassage(
        " ".join(analyse(passage_search_text(atom, passage))),
        passage_digest(atom, passage),
        passage.speaker or "",
        to_millis(at),
        passage.text.rstrip().endswith(_QUESTION_MARKS),
        _mentioned_time(passage.text, at),
    )


def is_indexed(atom: Atom, passage: Passage, indexed: IndexedPassage) -> bool:
    """Return whether a passage is indexed as it is: the rest follows from its text, speaker and time."""
    identity = passage_digest(atom, passage), passage.speaker or "", to_millis(passage.at or atom.observed_at)
    return identity == (indexed.digest, indexed.speaker, indexed.at)


def _mentioned_time(text: str, at: datetime) -> int | None:
    """Return the middle of the time that a text mentions, if any, other than when it was said."""
    for start, end in find_mentioned_spans(text[:_TIME_SEARCH_CHARS], at):
        return to_millis(start + (end - start) / 2)
    return None


def passage_row(row: IndexedAtom, passage_id: int, n: int, passage: IndexedPassage) -> tuple[Any, ...]:
    length = len(passage.tokens.split())
    return (
        passage_id,
        row.id,
        n,
        length,
        passage.tokens,
        passage.digest,
        passage.speaker,
        passage.at,
        int(passage.is_question),
        passage.mentioned_at,
    )


def text_table(scope: int, *, is_shelved: bool) -> str:
    """Return the name of a scope's text table: of its recallable passages, or of the others."""
    return f"{'shelf' if is_shelved else 'text'}_{scope}"


class WriteBatch:
    """Rows collected for one write, so that a thousand atoms need only a few statements."""

    def __init__(self) -> None:
        self.passages: list[tuple[Any, ...]] = []
        self.orphans: set[bytes] = set()
        self.scopes: dict[Scope, int] = {}
        self.atoms: list[tuple[Any, ...]] = []
        self.reindexed: list[tuple[str]] = []
        self.edges: list[tuple[str, str, str, int, float]] = []
        self.rests: list[tuple[str, int, int, int, str, int]] = []
        self.text: dict[tuple[int, bool], list[tuple[int, str]]] = {}
        self.dropped: dict[tuple[int, bool], list[tuple[int, str]]] = {}
        self.terms: dict[int, Counter[str]] = {}
        self.counts: Counter[int] = Counter()
        self.lengths: Counter[int] = Counter()

    def add(self, row: IndexedAtom, passage_id: int, n: int, passage: IndexedPassage) -> None:
        tokens = passage.tokens.split()
        self.passages.append(passage_row(row, passage_id, n, passage))
        self.text.setdefault((row.scope, row.is_shelved), []).append((passage_id, passage.tokens))
        self._count(row, tokens, 1)

    def drop(self, row: IndexedAtom, passage_id: int, passage: IndexedPassage) -> None:
        self.dropped.setdefault((row.scope, row.is_shelved), []).append((passage_id, passage.tokens))
        self.orphans.add(passage.digest)
        self._count(row, passage.tokens.split(), -1)

    def _count(self, row: IndexedAtom, tokens: list[str], sign: int) -> None:
        if not row.is_shelved:
            counter = self.terms.setdefault(row.scope, Counter())
            for token in set(tokens):
                counter[token] += sign
            self.counts[row.scope] += sign
            self.lengths[row.scope] += sign * len(tokens)


def session_key(atom: Atom) -> str:
    """Return what a passage's neighbours are searched in; a statement has no neighbours."""
    return atom.session_id if atom.is_segment and atom.session_id else atom.id


def edges_of(atom: Atom) -> dict[tuple[str, str], float]:
    """Return the edges of an atom: to others, and to what it shares with others (subject, entities, session).

    One that only lists others has edges to these alone.
    """
    if kind_traits(atom.kind).is_listing:
        return {(LISTS, target): 1.0 for target in atom.derived_from}
    links = {("subject", f"subject:{form}"): 1.0 for form in [normal_form(atom.subject)] if form}
    links |= {("entity", f"entity:{form}"): 1.0 for entity in atom.entities if (form := normal_form(entity))}
    links |= {("session", f"session:{atom.session_id}"): 0.5} if atom.session_id and not atom.is_segment else {}
    links |= {("evidence", evidence.segment): 1.0 for evidence in atom.evidence}
    links |= {("derived_from", target): 1.0 for target in atom.derived_from}
    links |= {("supersedes", target): 1.0 for target in atom.supersedes}
    return links | {(relation.name.value, relation.target): relation.confidence for relation in atom.relations}


class RowIds:
    """Row numbers that are never used twice, so that a remembered number never means another row."""

    def __init__(self, last: int) -> None:
        self.last = last

    def next(self) -> int:
        self.last += 1
        return self.last


PAST_SCHEMA = """
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
