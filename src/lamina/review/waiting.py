"""The inbox: everything that waits for a person's word, in one order, with what each word would do."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.atom.identity import AtomId
from lamina.atom.proposal import Proposal, proposal_of
from lamina.atom.status import Status
from lamina.capture.classify import Verdict
from lamina.capture.receipt import Result
from lamina.errors import LaminaError
from lamina.review.confirm import verdict_on
from lamina.review.pairs import Pair, pairs_of
from lamina.review.reviewer import Reviewer
from lamina.store.base import Filter
from lamina.text.normal import one_line

HELD_DELETIONS = "held-deletions"
HELD_DREAM = "held-dream"
"""The kinds of problem that only a person's word settles."""


class Waits(StrEnum):
    """What sort of decision is asked for."""

    DELETIONS = "deletions"
    DREAM = "dream"
    STATEMENT = "statement"
    PROPOSAL = "proposal"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that waits: what it says, why it waits, and what each verb would do."""

    kind: Waits
    text: str
    reason: str
    verbs: tuple[tuple[str, str], ...]
    atoms: tuple[Atom, ...] = ()

    @property
    def ids(self) -> tuple[AtomId, ...]:
        return tuple(atom.id for atom in self.atoms)


def held(by: Reviewer, source: str | None = None) -> list[Atom]:
    """The statements that wait, newest first; of one source, or of all whose names begin with it."""
    found = by.fresh(_held(by))
    return [atom for atom in found if source is None or comes_from(atom, source)]


def _held(by: Reviewer) -> Filter:
    return Filter(scopes=by.scopes, statuses=frozenset({Status.CONSTRAINED}), notes=False)


def comes_from(atom: Atom, source: str) -> bool:
    """Whether an atom came from a source, or from one of those under its name."""
    own = atom.source_id or ""
    return own == source or own.startswith(f"{source}:")


def waiting(
    by: Reviewer,
    source: str | None,
    kind: Waits | None,
    limit: int | None,
    offset: int = 0,
    about: Collection[str] | None = None,
) -> list[Item]:
    """What waits: deletions, then statements and proposals, the newest first, then pairs; `about`: of these atoms."""
    every = [each for each in _every(by, source, kind) if about is None or _is_about(each, about)]
    return [_item(each, by) for each in every[offset : None if limit is None else offset + limit]]


def _is_about(each: Item | Atom | Pair, ids: Collection[str]) -> bool:
    match each:
        case Item():
            return any(atom.id in ids for atom in each.atoms)
        case Atom():
            return each.id in ids
        case Pair():
            return each.a.id in ids or each.b.id in ids


def how_many(by: Reviewer, source: str | None, kind: Waits | None) -> int:
    """How many things wait. All of them are counted without a look at their files, for it is shown on every page."""
    if source is None and kind is None:
        return by.store.count(_held(by)) + len(pairs_of(by)) + len([*_held_back(by)])
    return len(_every(by, source, kind))


def _every(by: Reviewer, source: str | None, kind: Waits | None) -> list[Item | Atom | Pair]:
    atoms = held(by, source) if kind in (None, Waits.STATEMENT, Waits.PROPOSAL) else []
    wanted = [atom for atom in atoms if kind is None or _sort(atom) is kind]
    pairs = pairs_of(by) if kind in (None, Waits.PAIR) and source is None else []
    lost = [item for item in _held_back(by) if kind in (None, item.kind)] if source is None else []
    return [*lost, *wanted, *pairs]


def _item(each: Item | Atom | Pair, by: Reviewer) -> Item:
    match each:
        case Item():
            return each
        case Atom():
            return _of_atom(each, by)
        case Pair():
            return _of_pair(each)


def _sort(atom: Atom) -> Waits:
    return Waits.PROPOSAL if proposal_of(atom) else Waits.STATEMENT


def _held_back(by: Reviewer) -> Iterator[Item]:
    """What would change too much at once."""
    for problem in by.problems():
        if problem.kind == HELD_DELETIONS:
            verbs = (("sync --accept-deletions", "their atoms are forgotten"), ("sync", "looks for them again"))
            yield Item(Waits.DELETIONS, "files are gone", problem.message, verbs)
        elif problem.kind == HELD_DREAM:
            step = problem.path.rpartition(":")[2]
            verbs = ((f"dream --step {step} --yes", "it is done"), (f"dream --step {step} --dry-run", "shows it"))
            yield Item(Waits.DREAM, f"a dream waits: {step}", problem.message, verbs)


def _of_atom(atom: Atom, by: Reviewer) -> Item:
    proposal = proposal_of(atom)
    why = f"proposed: {proposal.replace('_', ' ')}" if proposal else f"nobody vouches for the word of {atom.origin}"
    verbs = [("confirm", _outlook(atom, by)), ("reject", "it is taken back and does not return from the same words")]
    if proposal is Proposal.FORGET:
        why = "a request to forget something does not say clearly what"
        verbs[1] = ("reject", "nothing is forgotten")
    if proposal not in (Proposal.FILE_EDIT, Proposal.FORGET):
        verbs.append(("edit", "it counts in your words"))
    return Item(_sort(atom), one_line(atom.content), why, tuple(verbs), (atom,))


def _outlook(atom: Atom, by: Reviewer) -> str:
    try:
        return _told(verdict_on(atom, by.store, by.now()))
    except LaminaError as error:
        return f"is refused: {error}"


def _told(verdict: Verdict) -> str:
    ended = [other.id for other in verdict.others if verdict.atom.id in other.superseded_by]
    if ended:
        return f"it counts, and takes the place of {', '.join(ended)}"
    if verdict.result is Result.SUPERSEDED:
        return f"it is kept as history: {verdict.reason}"
    if verdict.result is Result.TAKEN_BACK:
        return "these words are forgotten; undo brings them back"
    if verdict.result in (Result.DUPLICATE, Result.REVISED):
        return verdict.reason
    return "it counts"


def _of_pair(pair: Pair) -> Item:
    a, b = pair.a, pair.b
    verbs = (
        (f"keep {b.id} --over {a.id}", "the newer is so; the older was so until then"),
        (f"keep {a.id} --over {b.id}", "the older is so; the newer is wrong"),
        (f"both {a.id} {b.id}", "both are so; they are not set against each other again"),
        (f"merge {a.id} {b.id} WORDS", "your words take the place of both"),
        (f"later {a.id} {b.id}", "both stay; you are asked again in 30 days"),
    )
    text = f"{one_line(a.content)} / {one_line(b.content)}"
    return Item(Waits.PAIR, text, pair.reason if not pair.note else f"{pair.reason}; {pair.note}", verbs, (a, b))
