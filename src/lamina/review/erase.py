"""Erases atoms: plan, remove them from the journal in one commit, redact files, and scrub the databases.

The journal loses the text in one durable commit. Files, indexes and free space follow; an erasure that is interrupted
is finished when the vault is opened next.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lamina.atom.atom import Atom, AtomId
from lamina.atom.metadata import iterate_texts
from lamina.atom.provenance import Scope, organisation_name
from lamina.atom.sentence_removal import removal_target_from_json
from lamina.errors import StoreError
from lamina.logs import summarise_error
from lamina.review.erasure_plan import ErasurePlan, ErasurePlanner
from lamina.review.file_cleanup import FileCleanup, copy_matcher, has_pending_writes
from lamina.store.base import CommitId, Store, TransactionMode
from lamina.store.erasure import Erasure, PendingErasure
from lamina.store.erasure_fingerprints import FingerprintKind, FingerprintText
from lamina.sync import VaultSync
from lamina.text.normal_form import normal_form
from lamina.vault.disk import Disk

logger = logging.getLogger("lamina")

LOCK_SECONDS = 60.0
ON_REQUEST = "on request"
"""Replaces a reason that quotes what is erased."""
_LONG_WORD_CHARS = 5
_MIN_QUOTED_CHARS = 4
_WORDS_OF_REASONS = """
    adopted asked captured changed confirmed deleted edited erase erased forget found imported older pinned remember
    sealed statement statements unpinned
"""
_REASON_WORDS = frozenset(_WORDS_OF_REASONS.split())
"""Words of lamina's own commit reasons, which quote no memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """The result of an erasure, counted by place, and copies that lamina cannot change.

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
    sync: VaultSync
    actor: str
    scope: Scope
    scopes: tuple[Scope, ...]
    external_copies: tuple[str, ...] = ()

    def plan(self, targets: Sequence[Atom]) -> ErasurePlan:
        """Return what is erased together with these atoms."""
        return ErasurePlanner(self.store, self.scopes).plan(targets)

    def erase(self, targets: Sequence[Atom], reason: str) -> ErasureReceipt:
        """Erase atoms, the sentences they rest on, and every copy of those."""
        plan = self.plan(targets)
        with self.disk.lock("vault", LOCK_SECONDS):
            with self.store.transaction(TransactionMode.WRITE) as transaction:
                if transaction.journal.position() != plan.position:
                    plan = ErasurePlanner(transaction, self.scopes).plan(targets)
                vectors = sum(transaction.passages.encodings.count_by_model().values())
                started = transaction.admin.erasures.apply(_build_erasure(plan, reason, self.actor, self.scope))
            removed_files = FileCleanup(self.disk, self.store.projection).remove_files(started)
        counts = count_removed(plan, started) | Counter(files=removed_files)
        finished = self._finish(counts)
        counts["vectors"] = vectors - sum(self.store.passages.encodings.count_by_model().values())
        cleanup = FileCleanup(self.disk, self.store.projection)
        return ErasureReceipt(
            commit=CommitId(started.commit),
            erased=started.erased_ids,
            removed=_non_zero(counts),
            finished=finished,
            still_in=tuple(cleanup.find_unowned(plan.search_terms, started.erased_ids)),
            outside=(*cleanup.external_copies(_source_names(plan)), *self.external_copies),
        )

    def _finish(self, counts: Counter[str]) -> bool:
        try:
            return finish_erasures(self.store, self.disk, self.sync, counts)
        except (StoreError, OSError) as error:
            logger.warning("an erasure will be finished later: %s", summarise_error(error))
            return False


def finish_erasures(store: Store, disk: Disk, sync: VaultSync, counts: Counter[str] | None = None) -> bool:
    """Finish every erasure that was started; return whether none is left."""
    unfinished, totals = store.admin.erasures.pending(), counts if counts is not None else Counter()
    if not unfinished:
        return True
    cleanup = FileCleanup(disk, store.projection)
    with disk.lock("vault", LOCK_SECONDS):
        totals["files"] += sum(cleanup.remove_files(erasure) for erasure in unfinished if erasure.search_json)
    sync.run()
    for erasure in unfinished:
        if erasure.search_json and not has_pending_writes(store.projection, erasure.rewritten_ids):
            with disk.lock("vault", LOCK_SECONDS):
                terms = removal_target_from_json(erasure.search_json)
                totals.update(cleanup.redact_copies(erasure, terms))
                store.admin.erasures.mark_files_done(erasure, copy_matcher(terms, erasure))
    store.admin.erasures.scrub()
    return not store.admin.erasures.pending()


def count_removed(plan: ErasurePlan, started: PendingErasure | None = None) -> Counter[str]:
    """Count the statements, segments, versions and sentences that an erasure removes or rewrites."""
    segment_count = sum(versions[-1].is_segment for versions in plan.erased.values())
    versions = started.version_count if started else sum(map(len, plan.erased.values()))
    return Counter(
        {
            "statements": len(plan.erased) - segment_count,
            "segments": segment_count,
            "versions": versions,
            "sentences": plan.sentence_count,
            "rewritten": len(plan.rewritten),
        }
    )


def dry_run_receipt(plan: ErasurePlan) -> ErasureReceipt:
    """Return the receipt of a dry run."""
    return ErasureReceipt(commit=None, erased=tuple(plan.erased), removed=_non_zero(count_removed(plan)))


def _source_names(plan: ErasurePlan) -> set[str]:
    versions = [history[-1] for history in (*plan.erased.values(), *plan.rewritten.values())]
    return {name for atom in versions for name in (atom.source_id, atom.session_id) if name}


def _non_zero(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple((name, number) for name, number in counts.items() if number)


def _build_erasure(plan: ErasurePlan, reason: str, actor: str, scope: Scope) -> Erasure:
    quoted = _quote_detector(plan)
    return Erasure(
        actor=actor,
        reason=ON_REQUEST if quoted(reason, True) else reason,
        scope=scope,
        erased_ids=tuple(plan.erased),
        rewritten=plan.rewritten,
        fingerprint_texts=tuple(dict.fromkeys(plan.marks)),
        quotes_erased=quoted,
        search_json=plan.search_terms.to_json(),
        fingerprints={
            atom_id: FingerprintText(
                organisation_name(versions[-1].scope), FingerprintKind.STATEMENT, normal_form(versions[-1].content)
            )
            for atom_id, versions in plan.erased.items()
        },
    )


def _quote_detector(plan: ErasurePlan) -> Callable[[str, bool], bool]:
    """Return a function that says whether a text quotes erased content: a phrase, or any long word if it is `near`."""
    atoms = [version for versions in plan.erased.values() for version in versions]
    claims = {normal_form(f"{atom.subject} {atom.attribute}") for atom in atoms if atom.attribute}
    values = {normal_form(atom.value) for atom in atoms if atom.value}
    phrases = {phrase for phrase in (*plan.search_terms.forms, *claims, *values) if len(phrase) >= _MIN_QUOTED_CHARS}
    words = {word for atom in atoms for text in _texts_of(atom) for word in normal_form(text).split()} - _REASON_WORDS
    long_words = {word for word in words if len(word) >= _LONG_WORD_CHARS}

    def is_quoted(text: str, near: bool) -> bool:
        form = normal_form(text)
        if near and not long_words.isdisjoint(form.split()):
            return True
        padded = f" {form} "
        return any(f" {phrase} " in padded for phrase in phrases)

    return is_quoted


def _texts_of(atom: Atom) -> list[str]:
    names = (atom.subject, atom.attribute, atom.value, atom.source_ref, atom.content, *atom.tags, *atom.entities)
    return [text for text in (*names, *iterate_texts(atom.metadata)) if text]
