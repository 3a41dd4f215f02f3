"""Find which earlier statements of the same subject and kind a declared statement replaces.

A declared statement is given as it is, by `remember` or as a file, and rests on no captured words. Without an attribute
it fills no claim, so its words decide.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from lamina.atom.atom import Atom, Relation, RelationName, effective_from
from lamina.atom.claim import Claim, claim_of
from lamina.atom.decisions import are_both_valid
from lamina.atom.status import Status
from lamina.capture.classification import DOUBTFUL, StatementVerdict, classify_against_rivals
from lamina.capture.receipt import Result
from lamina.capture.store_reads import StoreReads
from lamina.states.replacement_verdict import ReplacementCertainty, judge_replacements
from lamina.states.state_reader import StateReader
from lamina.store.base import AtomFilter
from lamina.store.commit_rules import required_trust
from lamina.text.analyser import content_tokens
from lamina.text.normal_form import normal_form, one_line

LoadStates = Callable[[], StateReader | None]
"""Loads the state model; None if there is none. It is called only if there is something to compare."""

TOPIC_KINDS = frozenset({"preference", "habit"})
"""Kinds of which a subject mostly has one statement at a time, so that `remember` compares them; of a file, any kind is
compared."""
MAX_RIVALS = 20
"""How many of the newest statements of the same subject and kind are read."""
MAX_COMPARED = 6
"""How many of them are compared: those that share most words, then the newest."""
MIN_SHARED_WORDS = 0.5
"""The share of the words of the shorter statement that two statements must have in common to be a pair for review, if
no model can compare them."""


def is_comparable(atom: Atom) -> bool:
    """Return whether a statement is compared by its words: a valid one with a subject, and no claim or evidence."""
    is_open = atom.status is Status.ACTIVE and not atom.is_episode and not atom.is_segment
    return is_open and not atom.evidence and bool(normal_form(atom.subject)) and claim_of(atom) is None


def filter_rivals(atom: Atom) -> AtomFilter:
    """Return the filter of the active statements of the same subject and kind."""
    return AtomFilter(
        scopes=(atom.scope,),
        subject=atom.subject,
        kinds=frozenset({atom.kind}),
        statuses=frozenset({Status.ACTIVE}),
        limit=MAX_RIVALS,
    )


def compare_declared(
    verdict: StatementVerdict, reads: StoreReads, now: datetime, load_states: LoadStates
) -> StatementVerdict:
    """Return the verdict on a declared statement, with the rivals that it surely replaces ended.

    Those that it may replace, or that are more trusted, are related to it as a pair for review.
    """
    new = verdict.atom
    if verdict.result is not Result.NEW or not is_comparable(new):
        return verdict
    rivals = [old for old in reads.read(filter_rivals(new)) if old.id != new.id and _may_be_replaced(old, new)]
    rivals.sort(key=lambda old: -_count_shared_words(old, new))
    rivals = rivals[:MAX_COMPARED]
    if not rivals:
        return verdict
    certainties = _judge(new, rivals, load_states())
    trust = required_trust(new, reads.store.atoms)
    sure = [
        old
        for old, certainty in zip(rivals, certainties, strict=True)
        if certainty is ReplacementCertainty.SURE
        and effective_from(old) != effective_from(new)
        and required_trust(old, reads.store.atoms) <= trust
    ]
    unclear = [
        old
        for old, certainty in zip(rivals, certainties, strict=True)
        if certainty is not ReplacementCertainty.NONE and old not in sure
    ]
    if sure:
        topic = Claim(normal_form(new.subject), new.kind)
        verdict = classify_against_rivals(new, sure, topic, now)
    links = tuple(Relation(RelationName.CONTRADICTS, old.id, DOUBTFUL, now) for old in unclear)
    reason = verdict.reason if sure or not links else f"it may replace {unclear[0].id}; `lamina review pairs` has both"
    atom = verdict.atom.with_(relations=(*verdict.atom.relations, *links))
    return StatementVerdict(verdict.result, atom, verdict.other_changes, reason)


def _count_shared_words(old: Atom, new: Atom) -> int:
    return len(set(content_tokens(old.content)) & set(content_tokens(new.content)))


def _may_be_replaced(old: Atom, new: Atom) -> bool:
    is_valid = old.valid_until is None or old.valid_until > effective_from(new)
    return is_valid and claim_of(old) is None and old.is_searched and not are_both_valid(old, new)


def _judge(new: Atom, rivals: Sequence[Atom], states: StateReader | None) -> list[ReplacementCertainty]:
    """Return how surely a statement replaces each rival; of two statements the one that began later replaces."""
    if states is None or states.pairs is None:
        return [_judge_by_words(new, old) for old in rivals]
    sentence, start = one_line(new.content), effective_from(new)
    earlier = [old for old in rivals if effective_from(old) <= start]
    verdicts = judge_replacements(sentence, [one_line(old.content) for old in earlier], states)
    certainties = {old.id: certainty for old, certainty in zip(earlier, verdicts, strict=True)}
    for old in rivals:
        if old.id not in certainties:
            (certainties[old.id],) = judge_replacements(one_line(old.content), [sentence], states)
    return [certainties[old.id] for old in rivals]


def _judge_by_words(new: Atom, old: Atom) -> ReplacementCertainty:
    """Return whether two statements are worded so alike that a person should compare them."""
    subject_words = set(content_tokens(new.subject))
    words, old_words = (set(content_tokens(atom.content)) - subject_words for atom in (new, old))
    shared = len(words & old_words) / max(1, min(len(words), len(old_words)))
    is_same = words == old_words
    return ReplacementCertainty.LIKELY if shared >= MIN_SHARED_WORDS and not is_same else ReplacementCertainty.NONE
