"""Statements another memory kept: those that stood there wait for a person here, those that were over are so here too.

Their words go with them. Whatever was decided here about one of them stays as it was decided.
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
"""Where a statement that is over names its successor by the id it had elsewhere, until that one comes."""


class Successions:
    """Who followed whom, as far as both are here. One may come long before the other, even in another import."""

    def __init__(self, store: Store, scope: Scope) -> None:
        self._store, self._scope = store, scope
        self._here: dict[str, AtomId] = {}
        self._own: dict[str, list[AtomId]] = {}
        self._waiting: dict[str, dict[AtomId, None]] = defaultdict(dict)
        for offset in itertools.count(0, PAGE):
            found = store.read(Filter(scopes=(scope,), limit=PAGE, offset=offset))
            for atom in reversed(found):
                self.take(atom)
            if len(found) < PAGE:
                return

    def take(self, atom: Atom, foreign_id: str | None = None) -> None:
        """A statement is here; one that is over waits for its successor, if it names one that is not."""
        named = foreign_id or atom.source_ref
        if named:
            self._here[named] = atom.id
        if atom.source_ref:
            self._own.setdefault(atom.source_ref, []).append(atom.id)
        if atom.metadata.get(_HEIR) and not atom.superseded_by:
            self._waiting[atom.metadata[_HEIR]][atom.id] = None

    def brought(self, foreign_id: str, source_id: str) -> Atom | None:
        """The atom that an earlier import made of the statement with this id in this source."""
        found = self._store.read(Filter(scopes=(self._scope,), ids=tuple(self._own.get(foreign_id, ()))))
        return next((each for each in found if each.source_id == source_id), None)

    def heir(self, foreign_id: str) -> AtomId | None:
        """The statement that had this id elsewhere."""
        return self._here.get(foreign_id)

    def followed_by(self, foreign_id: str) -> list[AtomId]:
        """Those that wait for the statement with this id."""
        return [*self._waiting.pop(foreign_id, ())]

    def link(self, before_id: AtomId, heir_id: AtomId, writer: Writer) -> None:
        """Tell both who followed; a circle is no succession and is left out."""
        found = {each.id: each for each in self._store.read(Filter(scopes=(self._scope,), ids=(before_id, heir_id)))}
        if len(found) < 2:
            return
        before, heir = found[before_id], found[heir_id]
        if before.superseded_by:
            return
        since = begins(heir) if before.status is Status.SUPERSEDED and begins(heir) > begins(before) else None
        metadata = {name: value for name, value in before.metadata.items() if name != _HEIR}
        linked = before.with_(superseded_by=(heir.id,), valid_until=before.valid_until or since, metadata=metadata)
        known = heir.with_(supersedes=(*heir.supersedes, before.id))
        # Where the heir is the word of somebody more trusted, only what is over may say who followed it.
        both = self._store.objection(known, writer.origin) is None
        with suppress(Refused):
            told = f"{heir.id} followed {before.id}"
            _commit([linked, known] if both else [linked], None, told, writer, self._store)


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
    """One fact, one commit, together with the links to those it followed or was followed by."""
    known = _known_here(item, writer, store)
    if known is not None:
        return Receipt(None, (Outcome(Result.DUPLICATE, known, "it is here already"),))
    atom, taken = _atom(item, writer, ids, now, personal)
    atom = atom.with_(evidence=quoted.evidence(item.quotes, writer.origin, item.source_id.partition(":")[0]))
    if item.status in ENDED or _ran_over(item, now):
        receipt = _history(atom, item, writer, store, successions)
    else:
        receipt = _held(atom, item, writer, store, now, successions)
    return replace(receipt, redacted=taken)


def _atom(
    item: ImportedFact, writer: Writer, ids: IdSource, now: datetime, personal: bool
) -> tuple[Atom, tuple[str, ...]]:
    given = {name: getattr(item.draft, name) for name in item.draft.model_fields_set}
    clean, taken = without_secrets(given, personal=personal)
    labels = {name: redact(clean[name]).text for name in ("source_id", "session_id") if clean.get(name)}
    draft = parse_draft(**{**clean, **labels})
    atom = draft.to_atom(ids.new(now), writer.scope, writer.origin, writer.principal, now)
    return atom.with_(status=Status.CONSTRAINED, source_ref=redact(item.foreign_id).text), taken


def _held(
    atom: Atom, item: ImportedFact, writer: Writer, store: Store, now: datetime, successions: Successions
) -> Receipt:
    """It waits for a person, whatever it would be otherwise."""
    verdicts = verdicts_on([atom], store, now)
    receipt = write(Words(), verdicts, writer, store, "import", _reason(item), item.key)
    return _among(receipt, atom.source_ref or "", writer, successions)


def _known_here(item: ImportedFact, writer: Writer, store: Store) -> Atom | None:
    """The very atom, where an export comes back to the vault it was made of."""
    if not is_atom_id(item.foreign_id):
        return None
    found = store.read(Filter(scopes=visible_from(writer.scope), ids=(AtomId(item.foreign_id),)))
    return found[0] if found else None


def _ran_over(item: ImportedFact, now: datetime) -> bool:
    """Whether something took its place on a day that has come since."""
    return item.replaced_by is not None and item.draft.valid_until is not None and item.draft.valid_until <= now


def _history(atom: Atom, item: ImportedFact, writer: Writer, store: Store, successions: Successions) -> Receipt:
    """It was true until then, or never: no answer, and nothing that stands gives way to it."""
    over = atom.with_(status=item.status if item.status in ENDED else Status.SUPERSEDED)
    if over.status in (Status.INVALIDATED, Status.TOMBSTONED) and not over.evidence:
        return Receipt(None, (Outcome(Result.REFUSED, over, "it was taken back where it came from"),))
    if over.status is Status.TOMBSTONED:
        over = over.with_(metadata={ASKED_AT: format_time(over.observed_at), **over.metadata})
    erased = erased_among([over], store)
    if erased:
        reason = f"it was erased on {erased[over.id]:%Y-%m-%d}"
        return Receipt(None, (Outcome(Result.REFUSED, over, reason),))
    if item.replaced_by:
        over = over.with_(metadata={**over.metadata, _HEIR: redact(item.replaced_by).text})
    held = successions.brought(item.foreign_id, redact(item.source_id).text)
    if held is not None:
        over = held.with_(
            status=over.status, evidence=over.evidence, metadata=over.metadata, valid_until=over.valid_until
        )
        if held.status is not Status.CONSTRAINED or store.objection(over, writer.origin) is not None:
            return Receipt(None, (Outcome(Result.DUPLICATE, held, "it was decided about here"),))
    way = Way.ORDINARY if held is None else Way.ADOPT
    (written,) = _commit([over], item.key, _reason(item), writer, store, way)
    receipt = Receipt(None, (Outcome(_AS[over.status], written, "it was over where it came from"),))
    heir = successions.heir(over.metadata.get(_HEIR, ""))
    if heir is not None:
        successions.link(written.id, heir, writer)
    return _among(receipt, atom.source_ref or "", writer, successions)


def _among(receipt: Receipt, foreign_id: str, writer: Writer, successions: Successions) -> Receipt:
    """Link those that were waiting for this one."""
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
