"""Erases atoms: plan, remove them from the journal in one commit, redact files, and scrub the databases.

The journal loses the text in one durable commit. Files, indexes and free space follow; an erasure that is interrupted
is finished when the vault is opened next.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from lamina.atom.atom import Atom, AtomId
from lamina.atom.provenance import Scope, organisation_name
from lamina.errors import StoreError
from lamina.logs import summarise_error
from lamina.review.erasure_plan import ErasurePlan, PassageChange, plan_erasure
from lamina.review.file_cleanup import FileCleanup, FileSearch, has_pending_writes
from lamina.store.base import CommitId, Store, TransactionMode
from lamina.store.erasure import Erasure, FingerprintKind, FingerprintText, PendingErasure
from lamina.sync import VaultSync
from lamina.text.normal_form import normal_form
from lamina.vault.disk import Disk

logger = logging.getLogger("lamina")

LOCK_SECONDS = 60.0
ON_REQUEST = "on request"
"""Replaces a reason that quotes what is erased."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasureReceipt:
    """The result of an erasure, counted by place, and copies that lamina cannot change.

    `still_in`: files of the vault that lamina does not own and that contain the text. Not `finished`: another program
    has a database or a file open; the erasure is finished when the vault is opened next. `also_in`: atoms that have
    some of the words with their own provenance, and stay. `changes`: in a dry run, every passage that would change.
    """

    commit: CommitId | None
    erased: tuple[AtomId, ...]
    removed: tuple[tuple[str, int], ...]
    still_in: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    finished: bool = False
    also_in: tuple[AtomId, ...] = ()
    changes: tuple[PassageChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Eraser:
    """Erases atoms from the store and the files of one memory; with `everywhere`, the same words wherever they are."""

    store: Store
    disk: Disk
    sync: VaultSync
    actor: str
    scope: Scope
    scopes: tuple[Scope, ...]
    everywhere: bool = False
    external_copies: tuple[str, ...] = ()

    def plan(self, targets: Sequence[Atom]) -> ErasurePlan:
        """Return what is erased together with these atoms."""
        return self._plan(self.store, targets)

    def _plan(self, store: Store, targets: Sequence[Atom]) -> ErasurePlan:
        return plan_erasure(store, self.scopes, targets, everywhere=self.everywhere)

    def erase(self, targets: Sequence[Atom], reason: str) -> ErasureReceipt:
        """Erase atoms, the sentences they rest on, and what was derived from them."""
        plan = self.plan(targets)
        with self.disk.lock("vault", LOCK_SECONDS):
            with self.store.transaction(TransactionMode.WRITE) as transaction:
                if transaction.journal.position() != plan.position:
                    plan = self._plan(transaction, targets)
                vectors = sum(transaction.passages.encodings.count().encoded.values())
                for path, kind in plan.problems:
                    transaction.admin.problems.clear(path, [kind])
                originals = tuple(FileCleanup(self.disk, self.store.projection).find_originals(_source_names(plan)))
                started = transaction.admin.erasures.apply(self.build(plan, reason, originals))
            removed_files = FileCleanup(self.disk, self.store.projection).remove_files(started)
        counts = count_removed(plan, started) | Counter(files=removed_files)
        finished = self._finish(counts)
        counts["vectors"] = vectors - sum(self.store.passages.encodings.count().encoded.values())
        cleanup = FileCleanup(self.disk, self.store.projection)
        return ErasureReceipt(
            commit=CommitId(started.commit),
            erased=started.erased_ids,
            removed=_non_zero(counts),
            finished=finished,
            still_in=tuple(cleanup.find_unowned(plan.target)),
            outside=(*cleanup.external_copies(_source_names(plan)), *self.external_copies),
            also_in=plan.also_in,
        )

    def build(self, plan: ErasurePlan, reason: str, originals: tuple[str, ...]) -> Erasure:
        """Return what the store has to do."""
        is_quoting = not plan.telling_words.isdisjoint(normal_form(reason).split())
        heads = [versions[-1] for versions in plan.erased.values()]
        return Erasure(
            actor=self.actor,
            reason=ON_REQUEST if is_quoting else reason,
            scope=self.scope,
            erased_ids=tuple(plan.erased),
            rewritten=plan.rewritten,
            reasons=plan.reasons,
            fingerprints=plan.fingerprints,
            stub_fingerprints={head.id: _stub_fingerprint(head) for head in heads},
            search_json=FileSearch(plan.target, originals, plan.everywhere).to_json(),
        )

    def _finish(self, counts: Counter[str]) -> bool:
        try:
            return finish_erasures(self.store, self.disk, self.sync, counts)
        except (StoreError, OSError) as error:
            logger.warning("an erasure will be finished later: %s", summarise_error(error))
            return False


def finish_erasures(store: Store, disk: Disk, sync: VaultSync, counts: Counter[str] | None = None) -> bool:
    """Finish every erasure that was started; return whether none is left."""
    erasures, totals = store.admin.erasures, counts if counts is not None else Counter()
    unfinished = erasures.list_pending()
    if not unfinished:
        return True
    cleanup = FileCleanup(disk, store.projection)
    with disk.lock("vault", LOCK_SECONDS):
        totals["files"] += sum(cleanup.remove_files(erasure) for erasure in unfinished if erasure.search_json)
    sync.run()
    cleaned: list[int] = []
    swap_copies: set[str] = set()
    with disk.lock("vault", LOCK_SECONDS):
        for erasure in unfinished:
            if erasure.search_json and not has_pending_writes(store.projection, erasure.rewritten_ids):
                search = FileSearch.from_json(erasure.search_json)
                totals.update(cleanup.redact_copies(erasure, search))
                swap_copies |= cleanup.find_swap_copies(erasure, search)
                cleaned.append(erasure.seq)
        erasures.finish(cleaned, swap_copies)
    return not erasures.list_pending()


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
    return ErasureReceipt(
        commit=None,
        erased=tuple(plan.erased),
        removed=_non_zero(count_removed(plan)),
        also_in=plan.also_in,
        changes=plan.changes,
    )


def _stub_fingerprint(atom: Atom) -> FingerprintText:
    return FingerprintText(organisation_name(atom.scope), FingerprintKind.STATEMENT, normal_form(atom.content))


def _source_names(plan: ErasurePlan) -> set[str]:
    versions = [history[-1] for history in (*plan.erased.values(), *plan.rewritten.values())]
    return {name for atom in versions for name in (atom.source_id, atom.session_id) if name}


def _non_zero(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple((name, number) for name, number in counts.items() if number)
