"""Repetitions of ended statements in untrusted text: an assistant's answer, an import, a pasted note.

They end with them.

A repetition contains the whole value of the ended statement and, depending on the text around it, a word of its slot. A
sentence that is evidence of a current statement is never taken for a repetition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from lamina.atom.atom import Atom, Evidence
from lamina.atom.identity import AtomId
from lamina.atom.passage import Passage
from lamina.atom.status import Status
from lamina.atom.trust import Origin, statements_need_review, trust_of
from lamina.capture.change.working_set import CURRENT_STATUSES, WorkingSet
from lamina.capture.extraction import CapturedTurn
from lamina.capture.prose import is_pasted
from lamina.text.analyser import content_tokens
from lamina.text.sentences import find_sentences
from lamina.text.speaker_roles import is_assistant

MAX_CANDIDATES = 20
"""How many passages are searched for repetitions."""
ENDED_STATUSES = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.TOMBSTONED})
MAX_EVIDENCE = 50
"""The most evidence of one statement, repetitions included."""
_OPENING_CHARS = 4000
"""How many characters of a long turn show what it is about."""
_MIN_WORD_CHARS = 4
_SHORT_SENTENCE_CHARS = 40
"""A sentence this short says hardly more than the value it repeats."""


def add_repetitions(ended: Atom, working_set: WorkingSet) -> Atom:
    """Return an ended statement with every sentence that only repeats it added to its evidence."""
    value_words = _value_words(ended)
    if not value_words:
        return ended
    slot_words = _slot_words(ended, value_words)
    words = content_tokens(f"{ended.value} {ended.content}")
    repetitions = [
        repetition
        for atom, passage in (*working_set.search(words, CURRENT_STATUSES, MAX_CANDIDATES), *working_set.new_passages())
        if atom.is_segment and is_hearsay(atom, passage.speaker, passage.text) and _may_cite(ended, atom)
        for repetition in _find_repetitions(
            atom, passage, value_words, slot_words, working_set, is_specific=_is_specific_value(ended)
        )
    ]
    new_evidence = tuple(fromkey for fromkey in dict.fromkeys(repetitions) if fromkey not in ended.evidence)[
        : _free_evidence_slots(ended)
    ]
    return ended.with_(evidence=(*ended.evidence, *new_evidence)) if new_evidence else ended


def _free_evidence_slots(ended: Atom) -> int:
    return max(0, MAX_EVIDENCE - len(ended.evidence))


def _may_cite(ended: Atom, segment: Atom) -> bool:
    """Return whether a statement may have evidence in a segment: any for a user, else none that is less trusted."""
    return ended.origin is Origin.HUMAN or trust_of(segment.origin) >= trust_of(ended.origin)


def attach_hearsay(turns: Sequence[CapturedTurn], working_set: WorkingSet) -> None:
    """Attach sentences of untrusted turns to the ended statements that they repeat, so that recall withholds them."""
    for turn in turns:
        segment = working_set.get(AtomId(turn.segment))
        if segment is None or not is_hearsay(segment, turn.speaker, turn.text):
            continue
        words = content_tokens(turn.text[:_OPENING_CHARS])
        for ended in _find_ended_statements(words, working_set):
            value_words = _value_words(ended)
            if not value_words or _is_restated(ended, value_words, working_set):
                continue
            passage = Passage(turn.n, turn.text, 0, len(turn.text), turn.speaker, turn.at)
            repetitions = tuple(
                _find_repetitions(
                    segment,
                    passage,
                    value_words,
                    _slot_words(ended, value_words),
                    working_set,
                    is_specific=_is_specific_value(ended),
                )
            )
            new_evidence = tuple(place for place in repetitions if place not in ended.evidence)[
                : _free_evidence_slots(ended)
            ]
            if new_evidence:
                working_set.record_change(ended.with_(evidence=(*ended.evidence, *new_evidence)))


def _find_ended_statements(words: Sequence[str], working_set: WorkingSet) -> list[Atom]:
    """Return the ended statements that have evidence in passages with such words."""
    ended_by_id: dict[AtomId, Atom] = {}
    for atom, passage in working_set.search(words, CURRENT_STATUSES, MAX_CANDIDATES):
        if atom.is_segment:
            whole_passage = Evidence(atom.id, passage.n, 0, len(passage.text))
            ended_by_id |= {
                statement.id: statement
                for statement in working_set.statements_on(whole_passage)
                if statement.status in ENDED_STATUSES
            }
    return list(ended_by_id.values())


def is_hearsay(segment: Atom, speaker: str | None, text: str) -> bool:
    """Return whether text is not a trusted statement of a user: said by an assistant, from a document, or pasted."""
    return is_assistant(speaker) or statements_need_review(segment.origin) or is_pasted(text)


def _value_words(ended: Atom) -> frozenset[str]:
    """Return the words by which a value is recognised; none if they are too common."""
    words = frozenset(content_tokens(ended.value or ""))
    return words if any(len(word) >= _MIN_WORD_CHARS or not word.isalpha() for word in words) else frozenset()


def _is_specific_value(ended: Atom) -> bool:
    """Return whether a value is a name, a number or several words.

    One common word occurs in many sentences that do not repeat the statement.
    """
    value = ended.value or ""
    return len(content_tokens(value)) > 1 or any(char.isdigit() or char.isupper() for char in value)


def _slot_words(ended: Atom, value_words: frozenset[str]) -> frozenset[str]:
    return frozenset(content_tokens(f"{ended.subject} {ended.attribute or ''} {ended.content}")) - value_words


def _find_repetitions(
    atom: Atom,
    passage: Passage,
    value_words: frozenset[str],
    slot_words: frozenset[str],
    working_set: WorkingSet,
    *,
    is_specific: bool,
) -> Iterator[Evidence]:
    """Yield the sentences of a passage that repeat a value and are evidence of no current statement."""
    passage_words = _passage_words(passage.text)
    if not value_words <= passage_words.all_words:
        return
    for start, end, sentence_words in passage_words.sentences:
        is_short = end - start <= _SHORT_SENTENCE_CHARS and ":" not in passage.text[start:end]
        is_in_context = (is_specific or is_short) and (
            is_assistant(passage.speaker) or bool(passage_words.opening_words & slot_words)
        )
        if not value_words <= sentence_words or not (sentence_words & slot_words or is_in_context):
            continue
        evidence = Evidence(atom.id, passage.n, start, end)
        if not any(statement.status in CURRENT_STATUSES for statement in working_set.statements_on(evidence)):
            yield evidence


class _PassageWords(NamedTuple):
    """The content words of a passage: by sentence, of the whole, and of its opening."""

    sentences: tuple[tuple[int, int, frozenset[str]], ...]
    all_words: frozenset[str]
    opening_words: frozenset[str]


@lru_cache(maxsize=512)
def _passage_words(text: str) -> _PassageWords:
    """Return the content words of a passage; cached, as a long answer is compared with many ended statements."""
    by_sentence = tuple((start, end, _word_set(text[start:end])) for start, end in find_sentences(text))
    return _PassageWords(
        by_sentence, frozenset().union(*(words for _, _, words in by_sentence)), _word_set(text[:_OPENING_CHARS])
    )


def _word_set(text: str) -> frozenset[str]:
    return frozenset(content_tokens(text))


def _is_restated(ended: Atom, value_words: frozenset[str], working_set: WorkingSet) -> bool:
    """Return whether a current successor has the same value again."""
    successor_ids, visited = list(ended.superseded_by), set()
    while successor_ids:
        successor = working_set.get(successor_ids.pop())
        if successor is None or successor.id in visited:
            continue
        visited.add(successor.id)
        if successor.status in CURRENT_STATUSES and value_words <= _word_set(successor.value or successor.content):
            return True
        successor_ids += successor.superseded_by
    return False
