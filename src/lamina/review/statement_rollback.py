"""Rolls back a statement: it becomes a tombstone, and what it superseded is active again. One commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.status import ENDED, Status, TransitionCause
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.statement_commit import retry_exclusively
from lamina.errors import Refused
from lamina.review.reinstatement import find_claim_holders, reinstate_ended
from lamina.review.reviewer import Reviewer, parse_reason


def rollback(id: str, reason: str, reviewer: Reviewer) -> Receipt:
    """Roll a statement back; Refused if another statement holds the claim of what would be reinstated."""
    parsed_reason = parse_reason(reason)
    reviewer.authorised_writer()

    def attempt() -> Receipt:
        atom = reviewer.find_atom(id)
        if atom.status in ENDED:
            raise Refused(_ended_message(atom, reviewer))
        reinstated = reinstate_ended({atom.id: atom}, reviewer.store, reviewer.scopes)
        claim_holders = find_claim_holders(reinstated, {atom.id}, reviewer.store)
        if claim_holders:
            raise Refused(_claim_taken_message(atom, claim_holders))
        remaining = tuple(atom_id for atom_id in atom.supersedes if atom_id not in reinstated)
        retracted = Outcome(
            Result.TAKEN_BACK, atom.with_(status=Status.TOMBSTONED, supersedes=remaining), parsed_reason
        )
        reinstated_outcomes = [
            Outcome(_result_of(other), other, f"{atom.id} was rolled back") for other in reinstated.values()
        ]
        return reviewer.commit_outcomes(
            "rollback", parsed_reason, (retracted, *reinstated_outcomes), TransitionCause.ROLLBACK
        )

    return retry_exclusively(reviewer.store, attempt)


def _result_of(atom: Atom) -> Result:
    return Result.REVISED if atom.status in ENDED else Result.RESTORED


def _ended_message(atom: Atom, reviewer: Reviewer) -> str:
    if atom.superseded_by and atom.status is not Status.TOMBSTONED:
        return f"{atom.id} is {atom.status} by {', '.join(atom.superseded_by)}; roll that back first"
    last = reviewer.store.versions(atom.id)[-1]
    return f"{atom.id} is {atom.status} since {last.verb} {last.commit}; `lamina undo {last.commit}` undoes that"


def _claim_taken_message(atom: Atom, claim_holders: Mapping[AtomId, Sequence[Atom]]) -> str:
    conflicts = "; ".join(
        f"{atom_id} by {', '.join(holder.id for holder in holders)}" for atom_id, holders in claim_holders.items()
    )
    return (
        f"{atom.id} cannot be rolled back: other statements now hold the claims of what it superseded ({conflicts}); "
        "roll those back first, or forget only this one"
    )
