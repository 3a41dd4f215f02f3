"""Store the summary of a codebase: one atom for each folder and source file, in one commit; unchanged files are
skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lamina.atom.atom import Atom, AtomId, IdSource, kind_defaults
from lamina.atom.kinds import Layer
from lamina.atom.provenance import statements_need_review
from lamina.atom.status import ENDED, Status
from lamina.capture.erased_text import find_erased_statements
from lamina.capture.existing_statements import is_undone
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.redact import redact
from lamina.capture.statement_commit import Writer, limit_to_trust, retry_exclusively
from lamina.capture.store_reads import StoreReads, new_ids
from lamina.codebase.code_summary import CodebaseSummary, CodeEntry
from lamina.errors import InvalidInput
from lamina.store.base import AtomFilter, Store
from lamina.text.normal_form import HIDDEN_TEXT_TAG, has_hidden_text

KIND = "code"
CODEBASE, PATH, SHA256, READ_BY = "codebase", "path", "sha256", "read_by"
"""Metadata keys of a code atom."""


@dataclass(frozen=True, slots=True)
class _EntryOutcome:
    """The outcome for one entry, or for one atom whose file was removed."""

    outcome: Outcome
    secrets: tuple[str, ...] = ()


def capture_codebase(
    summary: CodebaseSummary,
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
        existing = _existing_atoms(summary, writer, store)
        run = _CodeCapture(summary, writer, store, new_ids(ids, now), now, agents, personal)
        paths = {entry.path for entry in summary.entries}
        captured = [run.capture_entry(entry, existing.get(entry.path)) for entry in summary.entries]
        removed = [run.archive_removed(path, atom) for path, atom in sorted(existing.items()) if path not in paths]
        outcomes = [outcome for outcome in (*captured, *removed) if outcome is not None]
        return _commit_outcomes(outcomes, run, existing.get("."))

    return retry_exclusively(store, capture)


def _existing_atoms(summary: CodebaseSummary, writer: Writer, store: Store) -> dict[str, Atom]:
    """Return the stored atoms of a codebase by path; one that has not ended comes before ended ones.

    InvalidInput if the name belongs to another codebase.
    """
    atoms = store.atoms.read(AtomFilter(scopes=(writer.scope,), kinds=frozenset({KIND})))
    known = [atom for atom in atoms if atom.metadata.get(CODEBASE) == summary.name and PATH in atom.metadata]
    ended = [atom for atom in known if atom.status in ENDED]
    live_atoms = [atom for atom in known if atom.status not in ENDED]
    by_path = {atom.metadata_text(PATH): atom for atom in (*reversed(ended), *reversed(live_atoms))}
    live = {path for path, atom in by_path.items() if atom.status is Status.ACTIVE and path != "."}
    if live and live.isdisjoint(entry.path for entry in summary.entries):
        raise InvalidInput(
            f"another codebase is stored under the name {summary.name}; choose a different name for this one"
        )
    return by_path


@dataclass(frozen=True, slots=True)
class _CodeCapture:
    summary: CodebaseSummary
    writer: Writer
    store: Store
    ids: Iterator[AtomId]
    now: datetime
    agents: tuple[str, ...]
    personal: bool

    def capture_entry(self, entry: CodeEntry, atom: Atom | None) -> _EntryOutcome | None:
        """Return the outcome for a file or folder that exists; None if there is nothing to do."""
        if atom is not None and atom.status in ENDED:
            if not is_undone(atom, self.store):
                return None  # a person retracted it; an existing file alone does not restore it
            atom = None
        if atom is None:
            return self._new_atom(entry)
        same = (atom.metadata.get(SHA256), atom.metadata.get(READ_BY)) == (entry.sha256, entry.parser_id)
        if same and atom.status is not Status.ARCHIVED:
            return None
        is_archived = atom.status is Status.ARCHIVED
        fields, secrets = self._fields(entry)
        fields = {} if same else fields
        status = Status.ACTIVE if is_archived else atom.status
        result, reason = (Result.RESTORED, "exists again") if is_archived else (Result.REVISED, "changed")
        changed = _with_hidden_tag(atom.with_(status=status, **fields))
        return _EntryOutcome(Outcome(result, changed, f"{entry.path}: {reason}"), secrets)

    def archive_removed(self, path: str, atom: Atom) -> _EntryOutcome | None:
        """Return the outcome for the atom of a file or folder that may have been removed; None if it stays."""
        if atom.status is not Status.ACTIVE or atom.pinned or not self.summary.is_removed(path):
            return None
        reason = f"{path}: archived, it no longer exists"
        return _EntryOutcome(Outcome(Result.REVISED, atom.with_(status=Status.ARCHIVED), reason))

    def _new_atom(self, entry: CodeEntry) -> _EntryOutcome:
        fields, secrets = self._fields(entry)
        is_pending = statements_need_review(self.writer.origin)
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
        result = Result.HELD if is_pending else Result.NEW
        return _EntryOutcome(Outcome(result, _with_hidden_tag(atom), f"{entry.path}: added"), secrets)

    def _fields(self, entry: CodeEntry) -> tuple[dict[str, Any], tuple[str, ...]]:
        words = redact(entry.content, personal=self.personal)
        metadata = {CODEBASE: self.summary.name, PATH: entry.path, SHA256: entry.sha256, READ_BY: entry.parser_id}
        subject = self.summary.name if entry.path == "." else entry.path
        fields: dict[str, Any] = {
            "content": words.text,
            "subject": redact(subject).text,
            "metadata": metadata,
            "observed_at": self.now,
        }
        return fields, tuple(secret.name for secret in words.secrets)


def _commit_outcomes(results: Sequence[_EntryOutcome], capture: _CodeCapture, root_atom: Atom | None) -> Receipt:
    """Commit the changes that the writer may make, and return a receipt that counts the others."""
    writer, store, summary = capture.writer, capture.store, capture.summary
    atoms = [entry.outcome.atom for entry in results]
    erased = find_erased_statements([atom for atom in atoms if not atom.revision], StoreReads(store))
    requested = {atom.id: atom for atom in atoms if atom.id not in erased}
    allowed = limit_to_trust(requested, writer.origin, writer.scope, store)
    written = [entry for entry in results if entry.outcome.atom.id in allowed]
    stages = ("files", summary.description), ("atoms", _describe_counts(written, len(results) - len(written)))
    if not written:
        same = (Outcome(Result.DUPLICATE, root_atom, "nothing has changed"),) if root_atom else ()
        return Receipt(None, same, stages=stages)
    reason = f"codebase {redact(summary.name).text}: {_describe_counts(written, 0)}"
    changed = [allowed[entry.outcome.atom.id] for entry in written]
    committed = store.journal.append(writer.commit("capture", reason, changed))
    stored = {atom.id: atom for atom in committed.atoms}
    outcomes = (
        Outcome(o.result, stored.get(o.atom.id, o.atom), o.reason) for o in (entry.outcome for entry in written)
    )
    secrets = tuple(dict.fromkeys(name for entry in written for name in entry.secrets))
    return Receipt(committed.id, tuple(outcomes), stages=stages, redacted=secrets)


def _describe_counts(written: Sequence[_EntryOutcome], refused_count: int) -> str:
    counts = Counter(_count_label(entry.outcome) for entry in written)
    parts = [f"{many:,} {label}" for label, many in counts.items()]
    parts += [f"{refused_count:,} unchanged: written by a more trusted origin"] if refused_count else []
    return ", ".join(parts) or "nothing has changed"


def _count_label(outcome: Outcome) -> str:
    if outcome.atom.status is Status.ARCHIVED:
        return "archived"
    return {Result.NEW: "new", Result.HELD: "held", Result.RESTORED: "back"}.get(outcome.result, "changed")


def _with_hidden_tag(atom: Atom) -> Atom:
    """Return the atom with the tag for invisible characters if its content has any."""
    is_tagged = HIDDEN_TEXT_TAG in atom.tags or not has_hidden_text(atom.content)
    return atom if is_tagged else atom.with_(tags=(*atom.tags, HIDDEN_TEXT_TAG))
