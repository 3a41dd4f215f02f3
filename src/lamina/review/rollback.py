"""Rollback: a statement is taken back, and what had made way for it stands again. One commit."""

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
    """Take a statement back; refused, with what to do, where another holds the claim of what would stand again."""
    told = with_reason(reason)
    by.writer()

    def taken_back() -> Receipt:
        atom = by.find(id)
        if atom.status in ENDED:
            raise Refused(_over(atom, by))
        back = given_back({atom.id: atom}, by.store, by.scopes)
        taken = in_the_way(back, {atom.id}, by.store)
        if taken:
            raise Refused(_taken(atom, taken))
        left = tuple(supersede for supersede in atom.supersedes if supersede not in back)
        gone = Outcome(Result.TAKEN_BACK, atom.with_(status=Status.TOMBSTONED, supersedes=left), told)
        others = [Outcome(_became(each), each, f"{atom.id} was taken back") for each in back.values()]
        return by.carry_out("rollback", told, (gone, *others), Way.ROLLBACK)

    return unhurried(by.store, taken_back)


def _became(atom: Atom) -> Result:
    return Result.REVISED if atom.status in ENDED else Result.RESTORED


def _over(atom: Atom, by: Reviewer) -> str:
    if atom.superseded_by and atom.status is not Status.TOMBSTONED:
        return f"{atom.id} is {atom.status} by {', '.join(atom.superseded_by)}; roll that back first"
    last = by.store.versions(atom.id)[-1]
    return f"{atom.id} is {atom.status} since {last.verb} {last.commit}; `lamina undo {last.commit}` takes that back"


def _taken(atom: Atom, taken: Mapping[AtomId, Sequence[Atom]]) -> str:
    told = "; ".join(f"{one} by {', '.join(holder.id for holder in holders)}" for one, holders in taken.items())
    return (
        f"{atom.id} cannot be rolled back: the place of what it had ended is taken meanwhile ({told}); "
        "roll those back first, or forget this one and leave the rest as it is"
    )
