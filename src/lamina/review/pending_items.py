"""Everything that is pending review, in one order, with what each decision would do."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

from lamina.atom.atom import Atom, AtomId
from lamina.atom.proposals_and_pairs import ProposalType, proposal_type_of
from lamina.atom.status import Status
from lamina.capture.classification import StatementVerdict
from lamina.capture.receipt import Result
from lamina.errors import LaminaError
from lamina.importers.import_items import IMPORTED_FROM
from lamina.review.confirm import predict_verdict
from lamina.review.pairs import Pair, list_pairs
from lamina.review.review_context import Reviewer
from lamina.store.base import AtomFilter
from lamina.text.normal_form import one_line

HELD_DELETIONS = "held-deletions"
HELD_DREAM = "held-dream"
"""The kinds of problems that only a person's decision resolves."""


class DecisionType(StrEnum):
    """A type of decision that is requested."""

    DELETIONS = "deletions"
    DREAM = "dream"
    STATEMENT = "statement"
    PROPOSAL = "proposal"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class Item:
    """One pending item: its text, why it is pending, and what each verb would do."""

    kind: DecisionType
    text: str
    reason: str
    verbs: tuple[tuple[str, str], ...]
    atoms: tuple[Atom, ...] = ()

    @property
    def ids(self) -> tuple[AtomId, ...]:
        return tuple(atom.id for atom in self.atoms)


def held_statements(reviewer: Reviewer, source: str | None = None) -> list[Atom]:
    """Return the pending statements, newest first; of one source, or of all whose names begin with it."""
    pending = reviewer.read_synced(_held_filter(reviewer))
    return [atom for atom in pending if source is None or is_from_source(atom, source)]


def _held_filter(reviewer: Reviewer) -> AtomFilter:
    return AtomFilter(scopes=reviewer.scopes, statuses=frozenset({Status.CONSTRAINED}), include_run_notes=False)


def is_from_source(atom: Atom, source: str) -> bool:
    """Return whether an atom comes from a source, or from one below it (`source:...`)."""
    names = (atom.source_id or "", atom.metadata_text(IMPORTED_FROM))
    return any(name == source or name.startswith(f"{source}:") for name in names)


def list_pending(
    reviewer: Reviewer,
    source: str | None,
    kind: DecisionType | None,
    limit: int | None,
    offset: int = 0,
    about: Collection[str] | None = None,
) -> list[Item]:
    """Return what is pending: held operations, then statements and proposals, newest first, then pairs.

    `about`: only items about these atoms.
    """
    pending = [item for item in _all_pending(reviewer, source, kind) if about is None or _is_about(item, about)]
    return [_to_item(item, reviewer) for item in pending[offset : None if limit is None else offset + limit]]


def _is_about(pending: Item | Atom | Pair, ids: Collection[str]) -> bool:
    match pending:
        case Item():
            return any(atom.id in ids for atom in pending.atoms)
        case Atom():
            return pending.id in ids
        case Pair():
            return pending.a.id in ids or pending.b.id in ids


def count_pending(reviewer: Reviewer, source: str | None, kind: DecisionType | None) -> int:
    """Return how many items are pending; without filters no files are read, since every page shows it."""
    if source is None and kind is None:
        statements = sum(reviewer.store.atoms.count_by("status", _held_filter(reviewer)).values())
        return statements + len(list_pairs(reviewer)) + len([*_held_operations(reviewer)])
    return len(_all_pending(reviewer, source, kind))


def _all_pending(reviewer: Reviewer, source: str | None, kind: DecisionType | None) -> list[Item | Atom | Pair]:
    atoms = held_statements(reviewer, source) if kind in (None, DecisionType.STATEMENT, DecisionType.PROPOSAL) else []
    statements = [atom for atom in atoms if kind is None or _decision_type(atom) is kind]
    pairs = list_pairs(reviewer) if kind in (None, DecisionType.PAIR) and source is None else []
    operations = [item for item in _held_operations(reviewer) if kind in (None, item.kind)] if source is None else []
    return [*operations, *statements, *pairs]


def _to_item(pending: Item | Atom | Pair, reviewer: Reviewer) -> Item:
    match pending:
        case Item():
            return pending
        case Atom():
            return _statement_item(pending, reviewer)
        case Pair():
            return _pair_item(pending)


def _decision_type(atom: Atom) -> DecisionType:
    return DecisionType.PROPOSAL if proposal_type_of(atom) else DecisionType.STATEMENT


def _held_operations(reviewer: Reviewer) -> Iterator[Item]:
    """Return operations that are held because they would change too much."""
    for problem in reviewer.list_problems():
        if problem.kind == HELD_DELETIONS:
            verbs = (("sync --accept-deletions", "their atoms are forgotten"), ("sync", "searches for them again"))
            yield Item(DecisionType.DELETIONS, "files are missing", problem.message, verbs)
        elif problem.kind == HELD_DREAM:
            step = problem.path.rpartition(":")[2]
            verbs = (
                (f"dream --step {step} --yes", "applies the step"),
                (f"dream --step {step} --dry-run", "shows what it would change"),
            )
            yield Item(DecisionType.DREAM, f"a dream step is held: {step}", problem.message, verbs)


def _statement_item(atom: Atom, reviewer: Reviewer) -> Item:
    proposal = proposal_type_of(atom)
    why = f"proposed: {proposal.replace('_', ' ')}" if proposal else f"not confirmed yet: the origin is {atom.origin}"
    verbs = [
        ("confirm", _predict_confirm(atom, reviewer)),
        ("reject", "is rejected, and the same text is not extracted again"),
    ]
    if proposal is ProposalType.FORGET:
        why = "the request to forget is ambiguous"
        verbs[1] = ("reject", "nothing is forgotten")
    if proposal not in (ProposalType.FILE_EDIT, ProposalType.FORGET):
        verbs.append(("edit", "becomes active with your text"))
    return Item(_decision_type(atom), one_line(atom.content), why, tuple(verbs), (atom,))


def _predict_confirm(atom: Atom, reviewer: Reviewer) -> str:
    try:
        return _describe_verdict(predict_verdict(atom, reviewer.store, reviewer.now()))
    except LaminaError as error:
        return f"is refused: {error}"


def _describe_verdict(verdict: StatementVerdict) -> str:
    superseded_ids = [other.id for other in verdict.other_changes if verdict.atom.id in other.superseded_by]
    if superseded_ids:
        return f"becomes active and supersedes {', '.join(superseded_ids)}"
    if verdict.result is Result.SUPERSEDED:
        return f"is stored as superseded: {verdict.reason}"
    if verdict.result is Result.TAKEN_BACK:
        return "the text is forgotten; undo restores it"
    if verdict.result in (Result.DUPLICATE, Result.REVISED):
        return verdict.reason
    return "it counts"


def _pair_item(pair: Pair) -> Item:
    a, b = pair.a, pair.b
    verbs = (
        (f"keep {b.id} --over {a.id}", "keeps the newer; the older is superseded"),
        (f"keep {a.id} --over {b.id}", "keeps the older; the newer is invalidated"),
        (f"both {a.id} {b.id}", "keeps both; they do not become a pair again"),
        (f"merge {a.id} {b.id} WORDS", "your text replaces both"),
        (f"later {a.id} {b.id}", "keeps both; the pair returns in 30 days"),
    )
    text = f"{one_line(a.content)} / {one_line(b.content)}"
    return Item(DecisionType.PAIR, text, pair.reason if not pair.note else f"{pair.reason}; {pair.note}", verbs, (a, b))
