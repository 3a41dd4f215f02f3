"""Erases atoms: plan, remove them from the journal in one commit, redact files, and scrub the databases.

The journal loses the text in one durable commit. Files, indexes and free space follow; an erasure that is interrupted
is finished when the vault is opened next.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.scope import Scope, organisation
from lamina.atom.strike import from_json
from lamina.errors import StoreError
from lamina.logs import wordless
from lamina.review.erasure_plan import Plan, Planner
from lamina.review.remains import Remains, holding, unwritten
from lamina.store.base import CommitId, Store
from lamina.store.erasure import Erasure, Unfinished
from lamina.store.fingerprints import Mark, MarkKind
from lamina.sync import Sync
from lamina.text.normal import normal_form
from lamina.vault.files import Disk

logger = logging.getLogger("lamina")

LOCK_SECONDS = 60.0
ON_REQUEST = "on request"
"""Replaces a reason that quotes what is erased."""
_LONG_WORD = 5
_LEAST_QUOTED = 4
_OWN_WORDS = frozenset(
    {
        "adopted",
        "asked",
        "captured",
        "changed",
        "confirmed",
        "deleted",
        "edited",
        "erase",
        "erased",
        "forget",
        "found",
        "imported",
        "older",
        "pinned",
        "remember",
        "sealed",
        "statement",
        "statements",
        "unpinned",
    }
)
"""Words of lamina's own commit reasons, which quote no memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """What an erasure removed, counted by place, and copies that lamina cannot change.

    `still_in`: files of the vault that lamina does not own and that contain the text. Not `finished`: another program
    has a database or a file open; the erasure is finished when the vault is opened next.
    """

    commit: CommitId | None
    erased: tuple[AtomId, ...]
    removed: tuple[tuple[str, int], ...]
    still_in: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    finished: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Eraser:
    """Erases atoms from the store and the files of one memory."""

    store: Store
    disk: Disk
    sync: Sync
    actor: str
    scope: Scope
    scopes: tuple[Scope, ...]
    told: tuple[str, ...] = ()

    def plan(self, targets: Sequence[Atom]) -> Plan:
        """Return what is erased together with these atoms."""
        return Planner(self.store, self.scopes).plan(targets)

    def erase(self, targets: Sequence[Atom], reason: str) -> ErasureReceipt:
        """Erase atoms, the sentences they rest on, and every copy of those."""
        plan = self.plan(targets)
        with self.disk.lock("vault", LOCK_SECONDS):
            with self.store.alone():
                if self.store.position() != plan.position:
                    plan = self.plan(targets)
                vectors = sum(self.store.encodings.models().values())
                started = self.store.erasures.apply(_erasure(plan, reason, self.actor, self.scope))
            removed_files = Remains(self.disk, self.store.ledger).remove(started)
        counts = counted(plan, started) | Counter(files=removed_files)
        finished = self._finish(counts)
        counts["vectors"] = vectors - sum(self.store.encodings.models().values())
        cleanup = Remains(self.disk, self.store.ledger)
        return ErasureReceipt(
            commit=CommitId(started.commit),
            erased=started.gone,
            removed=_told(counts),
            finished=finished,
            still_in=tuple(cleanup.elsewhere(plan.everywhere, started.gone)),
            outside=(*cleanup.outside(_sources(plan)), *self.told),
        )

    def _finish(self, counts: Counter[str]) -> bool:
        try:
            return finish(self.store, self.disk, self.sync, counts)
        except (StoreError, OSError) as error:
            logger.warning("an erasure will be finished later: %s", wordless(error))
            return False


def finish(store: Store, disk: Disk, sync: Sync, counts: Counter[str] | None = None) -> bool:
    """Finish every erasure that was started; return whether none is left."""
    unfinished, totals = store.erasures.unfinished(), counts if counts is not None else Counter()
    if not unfinished:
        return True
    cleanup = Remains(disk, store.ledger)
    with disk.lock("vault", LOCK_SECONDS):
        totals["files"] += sum(cleanup.remove(erasure) for erasure in unfinished if erasure.sought)
    sync.run()
    for erasure in unfinished:
        if erasure.sought and not unwritten(store.ledger, erasure.touched):
            with disk.lock("vault", LOCK_SECONDS):
                terms = from_json(erasure.sought)
                totals.update(cleanup.strike(erasure, terms))
                store.erasures.struck(erasure, holding(terms, erasure))
    store.erasures.scrub()
    return not store.erasures.unfinished()


def counted(plan: Plan, begun: Unfinished | None = None) -> Counter[str]:
    """Count the statements, segments, versions and sentences that an erasure removes or rewrites."""
    segment_count = sum(versions[-1].is_segment for versions in plan.gone.values())
    versions = begun.versions if begun else sum(map(len, plan.gone.values()))
    return Counter(
        {
            "statements": len(plan.gone) - segment_count,
            "segments": segment_count,
            "versions": versions,
            "sentences": plan.sentences,
            "rewritten": len(plan.retold),
        }
    )


def planned(plan: Plan) -> ErasureReceipt:
    """Return the receipt of a dry run."""
    return ErasureReceipt(commit=None, erased=tuple(plan.gone), removed=_told(counted(plan)))


def _sources(plan: Plan) -> set[str]:
    versions = [history[-1] for history in (*plan.gone.values(), *plan.retold.values())]
    return {name for atom in versions for name in (atom.source_id, atom.session_id) if name}


def _told(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple((name, number) for name, number in counts.items() if number)


def _erasure(plan: Plan, reason: str, actor: str, scope: Scope) -> Erasure:
    quoted = _quoted(plan)
    return Erasure(
        actor=actor,
        reason=ON_REQUEST if quoted(reason, True) else reason,
        scope=scope,
        gone=tuple(plan.gone),
        retold=plan.retold,
        marks=tuple(dict.fromkeys(plan.marks)),
        quoted=quoted,
        sought=plan.everywhere.to_json(),
        fingerprints={
            atom_id: Mark(organisation(versions[-1].scope), MarkKind.STATEMENT, normal_form(versions[-1].content))
            for atom_id, versions in plan.gone.items()
        },
    )


def _quoted(plan: Plan) -> Callable[[str, bool], bool]:
    """Return a function that says whether a text quotes erased content: a phrase, or any long word if it is `near`."""
    atoms = [version for versions in plan.gone.values() for version in versions]
    claims = {normal_form(f"{atom.subject} {atom.attribute}") for atom in atoms if atom.attribute}
    values = {normal_form(atom.value) for atom in atoms if atom.value}
    phrases = {phrase for phrase in (*plan.everywhere.forms, *claims, *values) if len(phrase) >= _LEAST_QUOTED}
    words = {word for atom in atoms for text in _texts(atom) for word in normal_form(text).split()} - _OWN_WORDS
    long_words = {word for word in words if len(word) >= _LONG_WORD}

    def is_quoted(text: str, near: bool) -> bool:
        form = normal_form(text)
        if near and not long_words.isdisjoint(form.split()):
            return True
        padded = f" {form} "
        return any(f" {phrase} " in padded for phrase in phrases)

    return is_quoted


def _texts(atom: Atom) -> list[str]:
    names = (atom.subject, atom.attribute, atom.value, atom.source_ref, atom.content, *atom.tags, *atom.entities)
    return [text for text in (*names, *atom.metadata.values()) if text]
