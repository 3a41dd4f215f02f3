"""A vault whose statements are written by hand, each on the words it rests on: a test says what stands where."""

from __future__ import annotations

import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from town_conversations import DAY, NOON, open_memory

from lamina import Atom, FixedClock, Memory
from lamina.atom.atom import Evidence, IdSource, Relation, RelationName, kind_defaults
from lamina.atom.passage import passages_of
from lamina.atom.provenance import Origin
from lamina.atom.status import Status
from lamina.store.base import AtomChange, Commit, CommitResult

_IDS = IdSource(os.urandom)


class HandwrittenVault:
    """A memory, and short words for what a test says in it."""

    def __init__(self, root: Path, embedder: str = "none", clock: FixedClock | None = None, **settings: Any) -> None:
        self.clock = clock or FixedClock(NOON)
        self.memory: Memory = open_memory(root, embedder, clock=self.clock, extractor="none", **settings)
        self._sessions = 0

    def add_session(self, *turns: str, speaker: str = "Ann", at: datetime = NOON - 9 * DAY) -> None:
        """A session of one speaker, a minute apart."""
        self._sessions += 1
        text = [
            {"speaker": speaker, "content": words, "at": at + n * timedelta(minutes=1)} for n, words in enumerate(turns)
        ]
        self.memory.capture(text, session_id=f"s{self._sessions}")
        self.memory.embed()

    def find_evidence(self, words: str) -> Evidence:
        """Where words were said first."""
        for atom in sorted(self.memory.list(limit=None), key=lambda item: item.id):
            for passage in passages_of(atom) if atom.is_segment else ():
                if words in passage.text:
                    start = passage.text.index(words)
                    return Evidence(atom.id, passage.n, start, start + len(words))
        raise AssertionError(f"nobody said {words!r}")

    def atom(self, content: str, *words: str, **fields: Any) -> Atom:
        """A statement that rests on words, not yet committed."""
        actual: dict[str, Any] = {
            "kind": "fact",
            "observed_at": NOON - 9 * DAY,
            "subject": "Ann",
            "evidence": tuple(self.find_evidence(word) for word in words),
            **kind_defaults("fact"),
            **fields,
        }
        return Atom(id=_IDS.new(NOON), scope=self.memory.scope, content=content, **actual)

    def commit(self, *atoms: Atom) -> CommitResult:
        """Commit the atoms as they are."""
        changes = tuple(AtomChange(atom) for atom in atoms)
        done = self.memory.engine.store.journal.append(
            Commit(
                actor="test",
                origin=Origin.HUMAN,
                verb="test",
                reason="a test",
                scope=self.memory.scope,
                changes=changes,
            )
        )
        self.memory.embed()
        return done

    def add_statement(self, content: str, *words: str, **fields: Any) -> Atom:
        """A statement that rests on words, committed."""
        return self.commit(self.atom(content, *words, **fields)).atoms[0]

    def replace(self, old: Atom, new: Atom, status: Status = Status.SUPERSEDED, since: datetime = NOON - DAY) -> Atom:
        """The new statement takes the place of the old one, in one commit."""
        until = {"valid_until": since} if status is Status.SUPERSEDED else {}
        new = new.with_(valid_from=since, supersedes=(*new.supersedes, old.id))
        old = old.with_(status=status, superseded_by=(*old.superseded_by, new.id), **until)
        return self.commit(new, old).atoms[0]

    def end(self, old: Atom, status: Status) -> Atom:
        """The statement ends so, and nothing takes its place."""
        return self.commit(self.memory.get(old.id).with_(status=status)).atoms[0]


def link(name: RelationName, target: Atom, confidence: float = 1.0) -> tuple[Relation, ...]:
    return (Relation(name, target.id, confidence),)
