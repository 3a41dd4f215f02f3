"""Rolls back a statement: it becomes a tombstone, and what it superseded is active again. One commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.status import ENDED, Status, Way
from lamina.capture.receipt import Outcome, Receipt, Result
from lamina.capture.write import unhurried
from lamina.errors import Refused
from lamina.review.give_back import given_back, in_the_way
from lamina.review.reviewer import Reviewer, with_reason


def rollback(id: str, reason: str, by: Reviewer) -> Receipt:
    """Roll a statement back; Refused if another statement holds the claim of what would be reinstated."""
    parsed_reason = with_reason(reason)
    by.writer()

    def attempt() -> Receipt:
        atom = by.find(id)
        if atom.status in ENDED:
            raise Refused(_over(atom, by))
        reinstated = given_back({atom.id: atom}, by.store, by.scopes)
        claim_holders = in_the_way(reinstated, {atom.id}, by.store)
        if claim_holders:
            raise Refused(_taken(atom, claim_holders))
        remaining = tuple(atom_id for atom_id in atom.supersedes if atom_id not in reinstated)
        retracted = Outcome(
            Result.TAKEN_BACK, atom.with_(status=Status.TOMBSTONED, supersedes=remaining), parsed_reason
        )
        reinstated_outcomes = [
            Outcome(_became(other), other, f"{atom.id} was rolled back") for other in reinstated.values()
        ]
        return by.carry_out("rollback", parsed_reason, (retracted, *reinstated_outcomes), Way.ROLLBACK)

    return unhurried(by.store, attempt)


def _became(atom: Atom) -> Result:
    return Result.REVISED if atom.status in ENDED else Result.RESTORED


def _over(atom: Atom, by: Reviewer) -> str:
    if atom.superseded_by and atom.status is not Status.TOMBSTONED:
        return f"{atom.id} is {atom.status} by {', '.join(atom.superseded_by)}; roll that back first"
    last = by.store.versions(atom.id)[-1]
    return f"{atom.id} is {atom.status} since {last.verb} {last.commit}; `lamina undo {last.commit}` undoes that"


def _taken(atom: Atom, taken: Mapping[AtomId, Sequence[Atom]]) -> str:
    conflicts = "; ".join(
        f"{atom_id} by {', '.join(holder.id for holder in holders)}" for atom_id, holders in taken.items()
    )
    return (
        f"{atom.id} cannot be rolled back: other statements now hold the claims of what it superseded ({conflicts}); "
        "roll those back first, or forget only this one"
    )
