"""Store the summary of a codebase: one atom for each folder and source file, in one commit; unchanged files are
skipped.
"""

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
"""Metadata keys of a code atom."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """The outcome for one entry, or for one atom whose file was removed."""

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
    """Store what a codebase defines: new files are added, changed files revised, removed files archived."""

    def capture() -> Receipt:
        existing = _there(known, writer, store)
        run = _Desk(known, writer, store, fresh_ids(ids, now), now, agents, personal)
        outcomes = [
            outcome for entry in known.entries if (outcome := run.entry(entry, existing.get(entry.path))) is not None
        ]
        paths = {entry.path for entry in known.entries}
        outcomes += [
            outcome
            for path, atom in sorted(existing.items())
            if path not in paths and (outcome := run.gone(path, atom))
        ]
        return _written(outcomes, run, existing.get("."))

    return unhurried(store, capture)


def _there(known: CodebaseKnowledge, writer: Writer, store: Store) -> dict[str, Atom]:
    """Return the stored atoms of a codebase by path; one that has not ended comes before ended ones.

    InvalidInput if the name belongs to another codebase.
    """
    atoms = store.read(Filter(scopes=(writer.scope,), kinds=frozenset({KIND})))
    code_atoms = [
        code_atom
        for code_atom in atoms
        if code_atom.metadata.get(CODEBASE) == known.name and PATH in code_atom.metadata
    ]
    by_path = {code_atom.metadata[PATH]: code_atom for code_atom in reversed(code_atoms) if code_atom.status in ENDED}
    by_path |= {
        code_atom.metadata[PATH]: code_atom for code_atom in reversed(code_atoms) if code_atom.status not in ENDED
    }
    live = {path for path, atom in by_path.items() if atom.status is Status.ACTIVE and path != "."}
    if live and live.isdisjoint(entry.path for entry in known.entries):
        raise InvalidInput(
            f"another codebase is stored under the name {known.name}; choose a different name for this one"
        )
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
        """Return the outcome for a file or folder that exists; None if there is nothing to do."""
        if atom is not None and atom.status in ENDED:
            if not is_undone(atom, self.store):
                return None  # a person retracted it; an existing file alone does not restore it
            atom = None
        if atom is None:
            return self._made(entry)
        same = (atom.metadata.get(SHA256), atom.metadata.get(READ_BY)) == (entry.sha256, entry.read_by)
        if same and atom.status is not Status.ARCHIVED:
            return None
        is_archived = atom.status is Status.ARCHIVED
        fields, secrets = self._fields(entry)
        fields = {} if same else fields
        status = Status.ACTIVE if is_archived else atom.status
        result, reason = (Result.RESTORED, "exists again") if is_archived else (Result.REVISED, "changed")
        return _Kept(Outcome(result, _flagged(atom.with_(status=status, **fields)), f"{entry.path}: {reason}"), secrets)

    def gone(self, path: str, atom: Atom) -> _Kept | None:
        """Return the outcome for the atom of a file or folder that may have been removed; None if it stays."""
        if atom.status is not Status.ACTIVE or atom.pinned or not self.known.is_gone(path):
            return None
        return _Kept(
            Outcome(Result.REVISED, atom.with_(status=Status.ARCHIVED), f"{path}: archived, it no longer exists")
        )

    def _made(self, entry: CodeEntry) -> _Kept:
        fields, secrets = self._fields(entry)
        is_pending = statements_wait(self.writer.origin)
        traits = kind_defaults(KIND, 1.0, self.writer.origin) | {"layer": Layer.CODEBASE}
        atom = Atom(
            id=next(self.ids),
            scope=self.writer.scope,
            kind=KIND,
            origin=self.writer.origin,
            agents=self.agents,
            principal=self.writer.principal,
            status=Status.CONSTRAINED if is_pending else Status.ACTIVE,
            **traits,
            **fields,
        )
        return _Kept(
            Outcome(Result.HELD if is_pending else Result.NEW, _flagged(atom), f"{entry.path}: added"), secrets
        )

    def _fields(self, entry: CodeEntry) -> tuple[dict[str, Any], tuple[str, ...]]:
        words = redact(entry.content, personal=self.personal)
        metadata = {CODEBASE: self.known.name, PATH: entry.path, SHA256: entry.sha256, READ_BY: entry.read_by}
        subject = self.known.name if entry.path == "." else entry.path
        fields: dict[str, Any] = {
            "content": words.text,
            "subject": redact(subject).text,
            "metadata": metadata,
            "observed_at": self.now,
        }
        return fields, tuple(secret.name for secret in words.found)


def _written(done: Sequence[_Kept], desk: _Desk, whole: Atom | None) -> Receipt:
    """Commit the changes that the writer may make, and return a receipt that counts the others."""
    writer, store, summary = desk.writer, desk.store, desk.known
    erased = erased_among([entry.outcome.atom for entry in done if not entry.outcome.atom.revision], store)
    requested = {entry.outcome.atom.id: entry.outcome.atom for entry in done if entry.outcome.atom.id not in erased}
    allowed = within_reach(requested, writer.origin, writer.scope, store)
    written = [entry for entry in done if entry.outcome.atom.id in allowed]
    stages = (("files", summary.told), ("atoms", _counted(written, len(done) - len(written))))
    if not written:
        same = (Outcome(Result.DUPLICATE, whole, "nothing has changed"),) if whole else ()
        return Receipt(None, same, stages=stages)
    commit = Commit(
        actor=writer.actor,
        origin=writer.origin,
        verb="capture",
        scope=writer.scope,
        reason=f"codebase {redact(summary.name).text}: {_counted(written, 0)}",
        changes=tuple(Change(allowed[entry.outcome.atom.id]) for entry in written),
    )
    committed = store.commit(commit)
    atoms = {atom.id: atom for atom in committed.atoms}
    outcomes = (Outcome(o.result, atoms.get(o.atom.id, o.atom), o.reason) for o in (entry.outcome for entry in written))
    secrets = tuple(dict.fromkeys(name for entry in written for name in entry.secrets))
    return Receipt(committed.id, tuple(outcomes), stages=stages, redacted=secrets)


def _counted(kept: Sequence[_Kept], beyond: int) -> str:
    counts = Counter(_word(entry.outcome) for entry in kept)
    parts = [f"{many:,} {label}" for label, many in counts.items()]
    parts += [f"{beyond:,} unchanged: written by a more trusted origin"] if beyond else []
    return ", ".join(parts) or "nothing has changed"


def _word(outcome: Outcome) -> str:
    if outcome.atom.status is Status.ARCHIVED:
        return "archived"
    return {Result.NEW: "new", Result.HELD: "held", Result.RESTORED: "back"}.get(outcome.result, "changed")


def _flagged(atom: Atom) -> Atom:
    """Return the atom with the tag for invisible characters if its content has any."""
    return atom.with_(tags=(*atom.tags, HIDDEN)) if is_hidden(atom.content) and HIDDEN not in atom.tags else atom
