"""The order among hits that speak of the same: what holds stands before what may not, though that shares more words.

Each score stays what it is; a hit that was moved says in front of which, and why.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from lamina.atom.identity import AtomId
from lamina.capture.prose import is_question
from lamina.recall.follow import Found
from lamina.recall.grounds import Grounds
from lamina.recall.marks import Before, Mark, is_flagged
from lamina.text.analyse import analyse
from lamina.text.roles import is_assistant
from lamina.text.sentences import sentences

FIRST = 5
"""How many of the best are asked whether they claim what they say."""
MOST = 2 / 3
"""The part of a question's words that a sentence holds if it speaks of just that."""
REPLACED, ANNOUNCED, SUPPOSED = "which it may replace", "which is only announced", "which claims nothing"
OLDER = "which says as much and is older"
_BEGINNINGS = frozenset(
    analyse("first original originally initial initially previous previously earlier before ago start")
)
"""Words of a question that asks how it began."""

Better = Callable[[Found], tuple[Before, ...]]
"""In front of which statements a later hit stands, if it does."""


def in_order(found: Sequence[Found], grounds: Grounds, asked: Collection[str]) -> list[Found]:
    """The hits with those moved up that stand before what may be outdated, is announced, claims nothing or is older;
    `asked` are the words of the question."""
    ordered = list(found)
    for n, each in enumerate(found):
        better = _better_than(each, grounds, asked if n < FIRST else ())
        if better is not None:
            _move_up(ordered, each, better)
    return ordered


def _better_than(hit: Found, grounds: Grounds, asked: Collection[str]) -> Better | None:
    """What stands before a hit, if anything may."""
    if Mark.OUTDATED in hit.shown.marks:
        doubted = {newer.id: atom.id for atom in hit.shown.says for newer in grounds.newer(atom)}
        return lambda later: _said(later, doubted, REPLACED)
    if Mark.ANNOUNCED in hit.shown.marks:
        holding = {each.id: atom.id for atom in hit.shown.says for each in grounds.replaced(atom)}
        return lambda later: () if is_flagged(later.shown.marks) else _said(later, holding, ANNOUNCED)
    if not asked or not hit.atom.is_segment or hit.instead_of is not None or grounds.view.past:
        return None
    shared, sentence = _meant(hit)
    if len(shared) < MOST * len(asked):
        return None
    if not _claims(sentence):
        return lambda later: (Before(hit.atom.id, SUPPOSED),) if _claims_as_much(later, shared) else ()
    if is_assistant(hit.passage.speaker) or _BEGINNINGS & frozenset(asked):
        return None
    return lambda later: (
        (Before(hit.atom.id, OLDER),) if _says_it_later(later, hit) and _claims_as_much(later, shared) else ()
    )


def _says_it_later(later: Found, hit: Found) -> bool:
    """Whether the same person says something in a later session."""
    if later.atom.session_id == hit.atom.session_id or later.passage.speaker != hit.passage.speaker:
        return False
    return (later.passage.at or later.atom.observed_at) > (hit.passage.at or hit.atom.observed_at)


def _said(later: Found, wanted: Mapping[AtomId, AtomId], why: str) -> tuple[Before, ...]:
    said = (atom.id for atom in (*later.shown.says, *later.statements))
    return tuple(Before(wanted[each], why) for each in dict.fromkeys(said) if each in wanted)


def _move_up(ordered: list[Found], hit: Found, better: Better) -> None:
    at = next(n for n, each in enumerate(ordered) if each.key == hit.key)
    for later in ordered[at + 1 :]:
        before = better(later)
        if before:
            ordered.remove(later)
            ordered.insert(at, replace(later, before=(*later.before, *before)))
            at += 1


def _claims(sentence: str) -> bool:
    """Whether a sentence may claim that something is so: it is no question."""
    return not is_question(sentence)


def _claims_as_much(later: Found, shared: frozenset[str]) -> bool:
    """Whether a person claims something in a sentence that holds as many words of the question."""
    if is_flagged(later.shown.marks) or is_assistant(later.passage.speaker):
        return False
    own, sentence = _meant(later)
    return shared <= own and _claims(sentence)


def _meant(hit: Found) -> tuple[frozenset[str], str]:
    """The words of the question in the sentence that holds most of them, and that sentence."""
    weights = dict(hit.candidate.match.parts) if hit.candidate.match is not None else {}
    text, best, most = hit.shown.text, (frozenset[str](), ""), 0.0
    for start, end in sentences(text) if weights else ():
        held = weights.keys() & frozenset(analyse(text[start:end]))
        worth = sum(weights[word] for word in held)
        if worth > most:
            best, most = (frozenset(held), text[start:end]), worth
    return best
