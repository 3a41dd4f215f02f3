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

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId, IdSource, is_atom_id
from lamina.atom.scope import Scope, visible_from
from lamina.atom.standing import begins
from lamina.atom.status import ENDED, Status, Way
from lamina.capture.clean import without_secrets
from lamina.capture.current import ASKED_AT
from lamina.capture.draft import parse_draft
from lamina.capture.erased import erased_among
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.redact import redact
from lamina.capture.write import Words, Writer, verdicts_on, write
from lamina.errors import Refused
from lamina.importers.item import ImportedFact
from lamina.importers.quotes import Quoted
from lamina.store.base import Change, Commit, Filter, Store
from lamina.text.times import format_time

PAGE = 2000
_AS = {
    Status.SUPERSEDED: Result.SUPERSEDED,
    Status.INVALIDATED: Result.INVALIDATED,
    Status.TOMBSTONED: Result.TAKEN_BACK,
}
_HEIR = "replaced_by"
"""Metadata key under which an ended statement names its successor by its foreign id, until the
successor is imported.
"""


class Successions:
    """Links between imported statements and their successors. Either may be imported first, even by another import."""

    def __init__(self, store: Store, scope: Scope) -> None:
        self._store, self._scope = store, scope
        self._atom_ids: dict[str, AtomId] = {}
        self._imported_ids: dict[str, list[AtomId]] = {}
        self._waiting_predecessors: dict[str, dict[AtomId, None]] = defaultdict(dict)
        for offset in itertools.count(0, PAGE):
            page = store.read(Filter(scopes=(scope,), limit=PAGE, offset=offset))
            for atom in reversed(page):
                self.take(atom)
            if len(page) < PAGE:
                return

    def take(self, atom: Atom, foreign_id: str | None = None) -> None:
        """Record that a statement is stored; an ended one waits for its successor if that is not stored yet."""
        known_as = foreign_id or atom.source_ref
        if known_as:
            self._atom_ids[known_as] = atom.id
        if atom.source_ref:
            self._imported_ids.setdefault(atom.source_ref, []).append(atom.id)
        if atom.metadata.get(_HEIR) and not atom.superseded_by:
            self._waiting_predecessors[atom.metadata[_HEIR]][atom.id] = None

    def brought(self, foreign_id: str, source_id: str) -> Atom | None:
        """Return the atom that an earlier import made of the statement with this id in this source, or None."""
        atoms = self._store.read(Filter(scopes=(self._scope,), ids=tuple(self._imported_ids.get(foreign_id, ()))))
        return next((atom for atom in atoms if atom.source_id == source_id), None)

    def heir(self, foreign_id: str) -> AtomId | None:
        """Return the id of the atom that had this id in the other memory, or None."""
        return self._atom_ids.get(foreign_id)

    def followed_by(self, foreign_id: str) -> list[AtomId]:
        """Remove and return the ids of the atoms that wait for the statement with this foreign id."""
        return [*self._waiting_predecessors.pop(foreign_id, ())]

    def link(self, before_id: AtomId, heir_id: AtomId, writer: Writer) -> None:
        """Store on both atoms that one superseded the other; nothing is stored if that would make a cycle."""
        atoms = {atom.id: atom for atom in self._store.read(Filter(scopes=(self._scope,), ids=(before_id, heir_id)))}
        if len(atoms) < 2:
            return
        before, successor = atoms[before_id], atoms[heir_id]
        if before.superseded_by:
            return
        since = begins(successor) if before.status is Status.SUPERSEDED and begins(successor) > begins(before) else None
        metadata = {name: value for name, value in before.metadata.items() if name != _HEIR}
        with_successor = before.with_(
            superseded_by=(successor.id,), valid_until=before.valid_until or since, metadata=metadata
        )
        with_predecessor = successor.with_(supersedes=(*successor.supersedes, before.id))
        # If the successor is of a more trusted origin, only the ended statement may be changed.
        both = self._store.objection(with_predecessor, writer.origin) is None
        with suppress(Refused):
            reason = f"{successor.id} followed {before.id}"
            _commit([with_successor, with_predecessor] if both else [with_successor], None, reason, writer, self._store)


def write_fact(
    item: ImportedFact,
    writer: Writer,
    store: Store,
    ids: IdSource,
    now: datetime,
    successions: Successions,
    quoted: Quoted,
    personal: bool = False,
) -> Receipt:
    """Write one fact in one commit, with the links to its predecessors and its successor."""
    existing = _known_here(item, writer, store)
    if existing is not None:
        return Receipt(None, (Outcome(Result.DUPLICATE, existing, "already in this vault"),))
    atom, redacted = _atom(item, writer, ids, now, personal)
    atom = atom.with_(evidence=quoted.evidence(item.quotes, writer.origin, item.source_id.partition(":")[0]))
    if item.status in ENDED or _ran_over(item, now):
        receipt = _history(atom, item, writer, store, successions)
    else:
        receipt = _held(atom, item, writer, store, now, successions)
    return replace(receipt, redacted=redacted)


def _atom(
    item: ImportedFact, writer: Writer, ids: IdSource, now: datetime, personal: bool
) -> tuple[Atom, tuple[str, ...]]:
    fields = {name: getattr(item.draft, name) for name in item.draft.model_fields_set}
    clean, redacted = without_secrets(fields, personal=personal)
    labels = {name: redact(clean[name]).text for name in ("source_id", "session_id") if clean.get(name)}
    draft = parse_draft(**{**clean, **labels})
    atom = draft.to_atom(ids.new(now), writer.scope, writer.origin, writer.principal, now)
    return atom.with_(status=Status.CONSTRAINED, source_ref=redact(item.foreign_id).text), redacted


def _held(
    atom: Atom, item: ImportedFact, writer: Writer, store: Store, now: datetime, successions: Successions
) -> Receipt:
    """Write a statement that is pending review, whatever its status was."""
    verdicts = verdicts_on([atom], store, now)
    receipt = write(Words(), verdicts, writer, store, "import", _reason(item), item.key)
    return _among(receipt, atom.source_ref or "", writer, successions)


def _known_here(item: ImportedFact, writer: Writer, store: Store) -> Atom | None:
    """Return the same atom if an export returns to the vault it was made from, or None."""
    if not is_atom_id(item.foreign_id):
        return None
    atoms = store.read(Filter(scopes=visible_from(writer.scope), ids=(AtomId(item.foreign_id),)))
    return atoms[0] if atoms else None


def _ran_over(item: ImportedFact, now: datetime) -> bool:
    """Return whether the statement was superseded at a time that has passed by now."""
    return item.replaced_by is not None and item.draft.valid_until is not None and item.draft.valid_until <= now


def _history(atom: Atom, item: ImportedFact, writer: Writer, store: Store, successions: Successions) -> Receipt:
    """Write a statement that had ended: recall does not return it, and nothing active gives way to it."""
    ended = atom.with_(status=item.status if item.status in ENDED else Status.SUPERSEDED)
    if ended.status in (Status.INVALIDATED, Status.TOMBSTONED) and not ended.evidence:
        return Receipt(None, (Outcome(Result.REFUSED, ended, "it was retracted in the memory it comes from"),))
    if ended.status is Status.TOMBSTONED:
        ended = ended.with_(metadata={ASKED_AT: format_time(ended.observed_at), **ended.metadata})
    erased = erased_among([ended], store)
    if erased:
        reason = f"it was erased on {erased[ended.id]:%Y-%m-%d}"
        return Receipt(None, (Outcome(Result.REFUSED, ended, reason),))
    if item.replaced_by:
        ended = ended.with_(metadata={**ended.metadata, _HEIR: redact(item.replaced_by).text})
    existing = successions.brought(item.foreign_id, redact(item.source_id).text)
    if existing is not None:
        ended = existing.with_(
            status=ended.status, evidence=ended.evidence, metadata=ended.metadata, valid_until=ended.valid_until
        )
        if existing.status is not Status.CONSTRAINED or store.objection(ended, writer.origin) is not None:
            return Receipt(
                None, (Outcome(Result.DUPLICATE, existing, "a decision about it was already made in this vault"),)
            )
    way = Way.ORDINARY if existing is None else Way.ADOPT
    (written,) = _commit([ended], item.key, _reason(item), writer, store, way)
    receipt = Receipt(None, (Outcome(_AS[ended.status], written, "it had ended in the memory it comes from"),))
    successor_id = successions.heir(ended.metadata.get(_HEIR, ""))
    if successor_id is not None:
        successions.link(written.id, successor_id, writer)
    return _among(receipt, atom.source_ref or "", writer, successions)


def _among(receipt: Receipt, foreign_id: str, writer: Writer, successions: Successions) -> Receipt:
    """Link the statements that were waiting for this one."""
    successions.take(receipt.atom, foreign_id)
    for before in successions.followed_by(foreign_id):
        successions.link(before, receipt.atom.id, writer)
    return receipt


def _commit(
    atoms: Sequence[Atom], key: str | None, reason: str, writer: Writer, store: Store, way: Way = Way.ORDINARY
) -> tuple[Atom, ...]:
    return store.commit(
        Commit(
            actor=writer.actor,
            origin=writer.origin,
            verb="import",
            reason=reason,
            scope=writer.scope,
            key=key,
            way=way,
            changes=tuple(map(Change, atoms)),
        )
    ).atoms


def _reason(item: ImportedFact) -> str:
    return f"imported {redact(item.source_id).text}"
