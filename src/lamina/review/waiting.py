"""Everything that is pending review, in one order, with what each decision would do."""

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
"""The kinds of problems that only a person's decision resolves."""


class Waits(StrEnum):
    """What type of decision is requested."""

    DELETIONS = "deletions"
    DREAM = "dream"
    STATEMENT = "statement"
    PROPOSAL = "proposal"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class Item:
    """One pending item: its text, why it is pending, and what each verb would do."""

    kind: Waits
    text: str
    reason: str
    verbs: tuple[tuple[str, str], ...]
    atoms: tuple[Atom, ...] = ()

    @property
    def ids(self) -> tuple[AtomId, ...]:
        return tuple(atom.id for atom in self.atoms)


def held(by: Reviewer, source: str | None = None) -> list[Atom]:
    """Return the pending statements, newest first; of one source, or of all whose names begin with it."""
    pending = by.fresh(_held(by))
    return [atom for atom in pending if source is None or comes_from(atom, source)]


def _held(by: Reviewer) -> Filter:
    return Filter(scopes=by.scopes, statuses=frozenset({Status.CONSTRAINED}), notes=False)


def comes_from(atom: Atom, source: str) -> bool:
    """Return whether an atom comes from a source, or from one below it (`source:...`)."""
    atom_source = atom.source_id or ""
    return atom_source == source or atom_source.startswith(f"{source}:")


def waiting(
    by: Reviewer,
    source: str | None,
    kind: Waits | None,
    limit: int | None,
    offset: int = 0,
    about: Collection[str] | None = None,
) -> list[Item]:
    """Return what is pending: held operations, then statements and proposals, newest first, then pairs.

    `about`: only items about these atoms.
    """
    pending = [item for item in _every(by, source, kind) if about is None or _is_about(item, about)]
    return [_item(item, by) for item in pending[offset : None if limit is None else offset + limit]]


def _is_about(each: Item | Atom | Pair, ids: Collection[str]) -> bool:
    match each:
        case Item():
            return any(atom.id in ids for atom in each.atoms)
        case Atom():
            return each.id in ids
        case Pair():
            return each.a.id in ids or each.b.id in ids


def how_many(by: Reviewer, source: str | None, kind: Waits | None) -> int:
    """Return how many items are pending; without filters no files are read, since every page shows it."""
    if source is None and kind is None:
        return by.store.count(_held(by)) + len(pairs_of(by)) + len([*_held_back(by)])
    return len(_every(by, source, kind))


def _every(by: Reviewer, source: str | None, kind: Waits | None) -> list[Item | Atom | Pair]:
    atoms = held(by, source) if kind in (None, Waits.STATEMENT, Waits.PROPOSAL) else []
    statements = [atom for atom in atoms if kind is None or _sort(atom) is kind]
    pairs = pairs_of(by) if kind in (None, Waits.PAIR) and source is None else []
    operations = [item for item in _held_back(by) if kind in (None, item.kind)] if source is None else []
    return [*operations, *statements, *pairs]


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
    """Return operations that are held because they would change too much."""
    for problem in by.problems():
        if problem.kind == HELD_DELETIONS:
            verbs = (("sync --accept-deletions", "their atoms are forgotten"), ("sync", "searches for them again"))
            yield Item(Waits.DELETIONS, "files are missing", problem.message, verbs)
        elif problem.kind == HELD_DREAM:
            step = problem.path.rpartition(":")[2]
            verbs = (
                (f"dream --step {step} --yes", "applies the step"),
                (f"dream --step {step} --dry-run", "shows what it would change"),
            )
            yield Item(Waits.DREAM, f"a dream step is held: {step}", problem.message, verbs)


def _of_atom(atom: Atom, by: Reviewer) -> Item:
    proposal = proposal_of(atom)
    why = f"proposed: {proposal.replace('_', ' ')}" if proposal else f"not confirmed yet: the origin is {atom.origin}"
    verbs = [("confirm", _outlook(atom, by)), ("reject", "is rejected, and the same text is not extracted again")]
    if proposal is Proposal.FORGET:
        why = "the request to forget is ambiguous"
        verbs[1] = ("reject", "nothing is forgotten")
    if proposal not in (Proposal.FILE_EDIT, Proposal.FORGET):
        verbs.append(("edit", "becomes active with your text"))
    return Item(_sort(atom), one_line(atom.content), why, tuple(verbs), (atom,))


def _outlook(atom: Atom, by: Reviewer) -> str:
    try:
        return _told(verdict_on(atom, by.store, by.now()))
    except LaminaError as error:
        return f"is refused: {error}"


def _told(verdict: Verdict) -> str:
    superseded_ids = [other.id for other in verdict.others if verdict.atom.id in other.superseded_by]
    if superseded_ids:
        return f"becomes active and supersedes {', '.join(superseded_ids)}"
    if verdict.result is Result.SUPERSEDED:
        return f"is stored as superseded: {verdict.reason}"
    if verdict.result is Result.TAKEN_BACK:
        return "the text is forgotten; undo restores it"
    if verdict.result in (Result.DUPLICATE, Result.REVISED):
        return verdict.reason
    return "it counts"


def _of_pair(pair: Pair) -> Item:
    a, b = pair.a, pair.b
    verbs = (
        (f"keep {b.id} --over {a.id}", "keeps the newer; the older is superseded"),
        (f"keep {a.id} --over {b.id}", "keeps the older; the newer is invalidated"),
        (f"both {a.id} {b.id}", "keeps both; they do not become a pair again"),
        (f"merge {a.id} {b.id} WORDS", "your text replaces both"),
        (f"later {a.id} {b.id}", "keeps both; the pair returns in 30 days"),
    )
    text = f"{one_line(a.content)} / {one_line(b.content)}"
    return Item(Waits.PAIR, text, pair.reason if not pair.note else f"{pair.reason}; {pair.note}", verbs, (a, b))
