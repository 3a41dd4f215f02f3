"""Undo in the name of one caller: of a commit, of a dream, or of the last thing that was done."""

from __future__ import annotations

from lamina.dream.dream import BATCH_PREFIX
from lamina.engine.caller_access import CallerAccess
from lamina.errors import NotFound
from lamina.review.undo import last_undoable, undo, undo_batch
from lamina.store.base import CommitResult, TransactionMode


def undo_commits(access: CallerAccess, commit: str | None, *, cascade: bool) -> list[CommitResult]:
    """Undo a commit, a dream by its batch, or by default the last commit: all of it, or nothing if a rule is broken."""
    caller = access.caller
    access.sync_files()
    with access.engine.store.transaction(TransactionMode.WRITE) as transaction:
        if commit is None:
            last = last_undoable(transaction, caller.scopes)
            if last is None:
                raise NotFound("there is nothing to undo")
            commit = last.id
        if commit.startswith(BATCH_PREFIX):
            done = undo_batch(transaction, commit, caller.scopes, caller.actor, caller.ceiling)
        else:
            done = undo(transaction, commit, caller.scopes, caller.actor, caller.ceiling, cascade=cascade)
    access.flush()
    return done
