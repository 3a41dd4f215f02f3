"""Write statements of another memory: those valid there are held for review here, those that had ended stay ended.

Their evidence is imported with them. A decision that was made here about one of them is kept.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from lamina.atom.atom import Atom, AtomId, IdSource, Signals, effective_from, is_atom_id
from lamina.atom.provenance import Scope, readable_scopes
from lamina.atom.status import Status, TransitionCause
from lamina.capture.caller_input import parse_draft, redact_fields
from lamina.capture.erased_text import find_erased_statements
from lamina.capture.existing_statements import FORGET_REQUESTED_AT
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.redact import redact
from lamina.capture.statement_commit import SegmentBatch, Writer, classify_statements, commit_verdicts
from lamina.capture.store_reads import StoreReads
from lamina.errors import Refused
from lamina.importers.evidence_quotes import QuoteLocator
from lamina.importers.import_items import IMPORTED_FROM, ImportedFact
from lamina.lifecycle.signals import merge_counters
from lamina.store.base import AtomFilter, Store
from lamina.store.commit_rules import find_refusal_reason
from lamina.text.timestamps import format_time

PAGE_SIZE = 2000
_RESULTS = {
    Status.SUPERSEDED: Result.SUPERSEDED,
    Status.INVALIDATED: Result.INVALIDATED,
    Status.TOMBSTONED: Result.TAKEN_BACK,
    Status.MERGED: Result.MERGED,
    Status.CHALLENGED: Result.CHALLENGED,
}
_SUCCESSOR_KEY = "replaced_by"
"""Metadata key under which an ended statement names its successor by its foreign id, until the
successor is imported.
"""


class ForeignSuccessions:
    """Links between imported statements and their successors. Either may be imported first, even by another import."""

    def __init__(self, store: Store, scope: Scope) -> None:
        self._store, self._scope = store, scope
        self._atom_ids: dict[str, AtomId] = {}
        self._imported_ids: dict[str, list[AtomId]] = {}
        self._waiting_predecessors: dict[str, dict[AtomId, None]] = defaultdict(dict)
        self._named_successors: dict[str, str] = {}
        for offset in itertools.count(0, PAGE_SIZE):
            page = store.atoms.read(AtomFilter(scopes=(scope,), limit=PAGE_SIZE, offset=offset))
            for atom in reversed(page):
                self.register(atom)
            if len(page) < PAGE_SIZE:
                return

    def register(self, atom: Atom, foreign_id: str | None = None) -> None:
        """Record that a statement is stored; an ended one waits for its successor if that is not stored yet."""
        known_as = foreign_id or atom.source_ref
        if known_as:
            self._atom_ids[known_as] = atom.id
        if atom.source_ref:
            self._imported_ids.setdefault(atom.source_ref, []).append(atom.id)
        successor = atom.metadata_text(_SUCCESSOR_KEY)
        if successor and not atom.superseded_by:
            self._waiting_predecessors[successor][atom.id] = None

    def note_replaced(self, item: ImportedFact) -> ImportedFact:
        """Return the fact with the successor that named it, if it has ended and names none itself."""
        for foreign_id in item.replaces:
            self._named_successors.setdefault(foreign_id, item.foreign_id)
        if item.replaced_by is None and item.status is Status.SUPERSEDED:
            return replace(item, replaced_by=self._named_successors.get(item.foreign_id))
        return item

    def link_replaced(self, successor: Atom, foreign_ids: Sequence[str], writer: Writer) -> None:
        """Link the stored statements that a statement superseded in the other memory."""
        ids = tuple(self._atom_ids[foreign_id] for foreign_id in foreign_ids if foreign_id in self._atom_ids)
        for before in self._store.atoms.read(AtomFilter(scopes=(self._scope,), ids=ids)) if ids else ():
            if before.status is Status.SUPERSEDED:
                self.link(before.id, successor.id, writer)

    def find_imported(self, foreign_id: str, source_id: str) -> Atom | None:
        """Return the atom that an earlier import made of the statement with this id in this source, or None."""
        atoms = self._store.atoms.read(
            AtomFilter(scopes=(self._scope,), ids=tuple(self._imported_ids.get(foreign_id, ())))
        )
        return next((atom for atom in atoms if source_id in (atom.source_id, atom.metadata.get(IMPORTED_FROM))), None)

    def find_successor(self, foreign_id: str) -> AtomId | None:
        """Return the id of the atom that had this id in the other memory, or None."""
        return self._atom_ids.get(foreign_id)

    def pop_waiting(self, foreign_id: str) -> list[AtomId]:
        """Remove and return the ids of the atoms that wait for the statement with this foreign id."""
        return [*self._waiting_predecessors.pop(foreign_id, ())]

    def link(self, before_id: AtomId, successor_id: AtomId, writer: Writer) -> None:
        """Store on both atoms that one superseded the other; nothing is stored if that would make a cycle."""
        atoms = {
            atom.id: atom
            for atom in self._store.atoms.read(AtomFilter(scopes=(self._scope,), ids=(before_id, successor_id)))
        }
        if len(atoms) < 2:
            return
        before, successor = atoms[before_id], atoms[successor_id]
        if before.superseded_by:
            return
        since = (
            effective_from(successor)
            if before.status is Status.SUPERSEDED and effective_from(successor) > effective_from(before)
            else None
        )
        metadata = {name: value for name, value in before.metadata.items() if name != _SUCCESSOR_KEY}
        with_successor = before.with_(
            superseded_by=(successor.id,), valid_until=before.valid_until or since, metadata=metadata
        )
        with_predecessor = successor.with_(supersedes=(*successor.supersedes, before.id))
        # If the successor is of a more trusted origin, only the ended statement may be changed.
        both = find_refusal_reason(with_predecessor, writer.origin, self._store.atoms) is None
        with suppress(Refused):
            reason = f"{successor.id} followed {before.id}"
            changed = [with_successor, with_predecessor] if both else [with_successor]
            self._store.journal.append(writer.commit("import", reason, changed))


def write_fact(
    item: ImportedFact,
    writer: Writer,
    store: Store,
    ids: IdSource,
    now: datetime,
    successions: ForeignSuccessions,
    quote_locator: QuoteLocator,
    personal: bool = False,
) -> Receipt:
    """Write one fact in one commit, with the links to its predecessors and its successor."""
    existing = _find_existing(item, writer, store)
    if existing is not None:
        return Receipt(None, (Outcome(Result.DUPLICATE, existing, "already in this vault"),))
    item = successions.note_replaced(item)
    atom, redacted = _build_atom(item, writer, ids, now, personal)
    sources = (successions.find_successor(foreign_id) for foreign_id in item.sources)
    atom = atom.with_(
        evidence=quote_locator.find_evidence(item.quotes, writer.origin, item.source_id.partition(":")[0]),
        derived_from=tuple(source for source in sources if source is not None),
    )
    if item.status is not Status.CONSTRAINED or _has_ended(item, now):
        receipt = _write_ended(atom, item, writer, store, successions)
    else:
        receipt = _write_pending(atom, item, writer, store, now, successions)
    written = receipt.atom
    if written.revision:
        successions.link_replaced(written, item.replaces, writer)
        _store_signals(written, item.signals, store)
    return replace(receipt, redacted=redacted)


def _store_signals(atom: Atom, imported: Signals, store: Store) -> None:
    """Store the counters of an imported statement, merged with those of the statement that it repeats."""
    counted = store.signals.get([atom.id]).signals.get(atom.id, Signals())
    merged = imported if counted == Signals() else merge_counters(counted, imported)
    if merged != counted:
        store.signals.put(atom.id, merged)


def _build_atom(
    item: ImportedFact, writer: Writer, ids: IdSource, now: datetime, personal: bool
) -> tuple[Atom, tuple[str, ...]]:
    fields = {name: getattr(item.draft, name) for name in item.draft.model_fields_set}
    clean, redacted = redact_fields(fields, personal=personal)
    sources = {name: redact(clean[name]).text for name in ("source_id", "session_id") if clean.get(name)}
    draft = parse_draft(**{**clean, **sources})
    atom = draft.to_atom(ids.new(now), writer.scope, writer.origin, writer.principal, now)
    labels: dict[str, str | None] = {name: redact(value).text for name, value in item.labels.items()}
    if atom.kind == "narrative":
        # A narrative with a segment id would be verbatim words of this vault.
        labels.pop("segment_id", None)
    if item.run_id:
        labels["run_id"] = redact(item.run_id).text
    return atom.with_(status=Status.CONSTRAINED, source_ref=redact(item.foreign_id).text, **labels), redacted


def _write_pending(
    atom: Atom, item: ImportedFact, writer: Writer, store: Store, now: datetime, successions: ForeignSuccessions
) -> Receipt:
    """Write a statement that is pending review, whatever its status was."""
    verdicts = classify_statements([atom], StoreReads(store), now)
    receipt = commit_verdicts(SegmentBatch(), verdicts, writer, store, "import", _reason(item), item.key)
    return _link_waiting(receipt, atom.source_ref or "", writer, successions)


def _find_existing(item: ImportedFact, writer: Writer, store: Store) -> Atom | None:
    """Return the same atom if an export returns to the vault it was made from, or None."""
    if not is_atom_id(item.foreign_id):
        return None
    atoms = store.atoms.read(AtomFilter(scopes=readable_scopes(writer.scope), ids=(AtomId(item.foreign_id),)))
    return atoms[0] if atoms else None


def _has_ended(item: ImportedFact, now: datetime) -> bool:
    """Return whether the statement was superseded at a time that has passed by now."""
    return item.replaced_by is not None and item.draft.valid_until is not None and item.draft.valid_until <= now


def _write_ended(
    atom: Atom, item: ImportedFact, writer: Writer, store: Store, successions: ForeignSuccessions
) -> Receipt:
    """Write a statement that had ended: recall does not return it, and nothing active gives way to it."""
    ended = atom.with_(status=Status.SUPERSEDED if item.status is Status.CONSTRAINED else item.status)
    is_retracted = ended.status in (Status.INVALIDATED, Status.TOMBSTONED)
    if is_retracted and not ended.evidence and not item.keeps_retracted:
        return Receipt(None, (Outcome(Result.REFUSED, ended, "it was retracted in the memory it comes from"),))
    if ended.status is Status.TOMBSTONED and not item.has_faded:
        ended = ended.with_(metadata={FORGET_REQUESTED_AT: format_time(ended.observed_at), **ended.metadata})
    erased = find_erased_statements([ended], StoreReads(store))
    if erased:
        reason = f"it was erased on {erased[ended.id]:%Y-%m-%d}"
        return Receipt(None, (Outcome(Result.REFUSED, ended, reason),))
    if item.replaced_by:
        ended = ended.with_(metadata={**ended.metadata, _SUCCESSOR_KEY: redact(item.replaced_by).text})
    existing = successions.find_imported(item.foreign_id, redact(item.source_id).text)
    if existing is not None:
        ended = existing.with_(
            status=ended.status, evidence=ended.evidence, metadata=ended.metadata, valid_until=ended.valid_until
        )
        if (
            existing.status is not Status.CONSTRAINED
            or find_refusal_reason(ended, writer.origin, store.atoms) is not None
        ):
            return Receipt(
                None, (Outcome(Result.DUPLICATE, existing, "a decision about it was already made in this vault"),)
            )
    way = TransitionCause.ORDINARY if existing is None else TransitionCause.ADOPT
    (written,) = store.journal.append(writer.commit("import", _reason(item), [ended], key=item.key, way=way)).atoms
    receipt = Receipt(None, (Outcome(_RESULTS[ended.status], written, "it had ended in the memory it comes from"),))
    successor_id = successions.find_successor(ended.metadata_text(_SUCCESSOR_KEY))
    if successor_id is not None:
        successions.link(written.id, successor_id, writer)
    return _link_waiting(receipt, atom.source_ref or "", writer, successions)


def _link_waiting(receipt: Receipt, foreign_id: str, writer: Writer, successions: ForeignSuccessions) -> Receipt:
    """Link the statements that were waiting for this one."""
    successions.register(receipt.atom, foreign_id)
    for before in successions.pop_waiting(foreign_id):
        successions.link(before, receipt.atom.id, writer)
    return receipt


def _reason(item: ImportedFact) -> str:
    note = f"; {redact(item.note).text}" if item.note else ""
    return f"imported {redact(item.source_id).text}{note}"
