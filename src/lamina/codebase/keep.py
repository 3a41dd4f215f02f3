"""Putting a codebase down: one atom a folder and a source file, one commit, and nothing for what has not changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lamina.atom.atom import Atom, kind_defaults
from lamina.atom.identity import AtomId, IdSource
from lamina.atom.kinds import Layer
from lamina.atom.status import ENDED, Status
from lamina.atom.trust import statements_wait
from lamina.capture.current import is_undone
from lamina.capture.erased import erased_among
from lamina.capture.reach import within_reach
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.redact import redact
from lamina.capture.write import Writer, fresh_ids, unhurried
from lamina.codebase.knowledge import CodebaseKnowledge, CodeEntry
from lamina.errors import InvalidInput
from lamina.store.base import Change, Commit, Filter, Store
from lamina.text.hidden import HIDDEN, is_hidden

KIND = "code"
CODEBASE, PATH, SHA256, READ_BY = "codebase", "path", "sha256", "read_by"
"""What the metadata of a code atom is called."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """What one run makes of one entry or of one atom that has none any more."""

    outcome: Outcome
    secrets: tuple[str, ...] = ()


def capture_codebase(
    known: CodebaseKnowledge,
    writer: Writer,
    store: Store,
    ids: IdSource,
    now: datetime,
    *,
    agents: tuple[str, ...] = (),
    personal: bool = False,
) -> Receipt:
    """Keep what a codebase offers: new files come, changed ones get a new version, vanished ones are archived."""

    def kept() -> Receipt:
        there = _there(known, writer, store)
        desk = _Desk(known, writer, store, fresh_ids(ids, now), now, agents, personal)
        done = [each for entry in known.entries if (each := desk.entry(entry, there.get(entry.path))) is not None]
        paths = {entry.path for entry in known.entries}
        done += [each for path, atom in sorted(there.items()) if path not in paths and (each := desk.gone(path, atom))]
        return _written(done, desk, there.get("."))

    return unhurried(store, kept)


def _there(known: CodebaseKnowledge, writer: Writer, store: Store) -> dict[str, Atom]:
    """What is remembered of a codebase by path: what stands before what ended, and the youngest of those."""
    found = store.read(Filter(scopes=(writer.scope,), kinds=frozenset({KIND})))
    own = [each for each in found if each.metadata.get(CODEBASE) == known.name and PATH in each.metadata]
    by_path = {each.metadata[PATH]: each for each in reversed(own) if each.status in ENDED}
    by_path |= {each.metadata[PATH]: each for each in reversed(own) if each.status not in ENDED}
    live = {path for path, atom in by_path.items() if atom.status is Status.ACTIVE and path != "."}
    if live and live.isdisjoint(entry.path for entry in known.entries):
        raise InvalidInput(f"another codebase is remembered as {known.name}; give this one a name of its own")
    return by_path


@dataclass(frozen=True, slots=True)
class _Desk:
    known: CodebaseKnowledge
    writer: Writer
    store: Store
    ids: Iterator[AtomId]
    now: datetime
    agents: tuple[str, ...]
    personal: bool

    def entry(self, entry: CodeEntry, atom: Atom | None) -> _Kept | None:
        """What becomes of a file or folder that is there; None where there is nothing to do."""
        if atom is not None and atom.status in ENDED:
            if not is_undone(atom, self.store):
                return None  # somebody took it back; the file alone does not bring it in again
            atom = None
        if atom is None:
            return self._made(entry)
        same = (atom.metadata.get(SHA256), atom.metadata.get(READ_BY)) == (entry.sha256, entry.read_by)
        if same and atom.status is not Status.ARCHIVED:
            return None
        back = atom.status is Status.ARCHIVED
        fields, secrets = self._fields(entry)
        fields = {} if same else fields
        status = Status.ACTIVE if back else atom.status
        result, why = (Result.RESTORED, "it is there again") if back else (Result.REVISED, "it has changed")
        return _Kept(Outcome(result, _flagged(atom.with_(status=status, **fields)), f"{entry.path}: {why}"), secrets)

    def gone(self, path: str, atom: Atom) -> _Kept | None:
        """What becomes of what is remembered of a file or folder that is not there."""
        if atom.status is not Status.ACTIVE or atom.pinned or not self.known.is_gone(path):
            return None
        return _Kept(Outcome(Result.REVISED, atom.with_(status=Status.ARCHIVED), f"{path}: archived, it is gone"))

    def _made(self, entry: CodeEntry) -> _Kept:
        fields, secrets = self._fields(entry)
        waits = statements_wait(self.writer.origin)
        traits = kind_defaults(KIND, 1.0, self.writer.origin) | {"layer": Layer.CODEBASE}
        atom = Atom(
            id=next(self.ids),
            scope=self.writer.scope,
            kind=KIND,
            origin=self.writer.origin,
            agents=self.agents,
            principal=self.writer.principal,
            status=Status.CONSTRAINED if waits else Status.ACTIVE,
            **traits,
            **fields,
        )
        return _Kept(Outcome(Result.HELD if waits else Result.NEW, _flagged(atom), f"{entry.path}: read"), secrets)

    def _fields(self, entry: CodeEntry) -> tuple[dict[str, Any], tuple[str, ...]]:
        words = redact(entry.content, personal=self.personal)
        told = {CODEBASE: self.known.name, PATH: entry.path, SHA256: entry.sha256, READ_BY: entry.read_by}
        subject = self.known.name if entry.path == "." else entry.path
        fields: dict[str, Any] = {
            "content": words.text,
            "subject": redact(subject).text,
            "metadata": told,
            "observed_at": self.now,
        }
        return fields, tuple(each.name for each in words.found)


def _written(done: Sequence[_Kept], desk: _Desk, whole: Atom | None) -> Receipt:
    """One commit of what the writer may change, and a receipt that counts the rest."""
    writer, store, known = desk.writer, desk.store, desk.known
    erased = erased_among([each.outcome.atom for each in done if not each.outcome.atom.revision], store)
    wanted = {each.outcome.atom.id: each.outcome.atom for each in done if each.outcome.atom.id not in erased}
    allowed = within_reach(wanted, writer.origin, writer.scope, store)
    kept = [each for each in done if each.outcome.atom.id in allowed]
    stages = (("files", known.told), ("atoms", _counted(kept, len(done) - len(kept))))
    if not kept:
        same = (Outcome(Result.DUPLICATE, whole, "nothing has changed"),) if whole else ()
        return Receipt(None, same, stages=stages)
    commit = Commit(
        actor=writer.actor,
        origin=writer.origin,
        verb="capture",
        scope=writer.scope,
        reason=f"codebase {redact(known.name).text}: {_counted(kept, 0)}",
        changes=tuple(Change(allowed[each.outcome.atom.id]) for each in kept),
    )
    made = store.commit(commit)
    atoms = {atom.id: atom for atom in made.atoms}
    outcomes = (Outcome(o.result, atoms.get(o.atom.id, o.atom), o.reason) for o in (each.outcome for each in kept))
    secrets = tuple(dict.fromkeys(name for each in kept for name in each.secrets))
    return Receipt(made.id, tuple(outcomes), stages=stages, redacted=secrets)


def _counted(kept: Sequence[_Kept], beyond: int) -> str:
    counts = Counter(_word(each.outcome) for each in kept)
    told = [f"{many:,} {word}" for word, many in counts.items()]
    told += [f"{beyond:,} left as somebody more trusted wants them"] if beyond else []
    return ", ".join(told) or "nothing has changed"


def _word(outcome: Outcome) -> str:
    if outcome.atom.status is Status.ARCHIVED:
        return "archived"
    return {Result.NEW: "new", Result.HELD: "held", Result.RESTORED: "back"}.get(outcome.result, "changed")


def _flagged(atom: Atom) -> Atom:
    """Who reads it is told that it says more than they see."""
    return atom.with_(tags=(*atom.tags, HIDDEN)) if is_hidden(atom.content) and HIDDEN not in atom.tags else atom
