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
from lamina.atom.trust import Origin, statements_wait, trust_of
from lamina.capture.change.known import STANDS, Known
from lamina.capture.found import Said
from lamina.capture.prose import is_pasted
from lamina.text.analyse import content_words
from lamina.text.roles import is_assistant
from lamina.text.sentences import sentences

LOOKED_AT = 20
"""How many passages are searched for repetitions."""
OVER = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.TOMBSTONED})
MOST_EVIDENCE = 50
"""The most evidence of one statement, repetitions included."""
_BEGINNING = 4000
"""How many characters of a long turn show what it is about."""
_SHORTEST_WORD = 4
_SHORT_ECHO = 40
"""A sentence this short says hardly more than the value it repeats."""


def repeated(ended: Atom, known: Known) -> Atom:
    """Return an ended statement with every sentence that only repeats it added to its evidence."""
    value_words = _value(ended)
    if not value_words:
        return ended
    slot_words = _key(ended, value_words)
    words = content_words(f"{ended.value} {ended.content}")
    repetitions = [
        repetition
        for atom, passage in (*known.search(words, STANDS, LOOKED_AT), *known.heard())
        if atom.is_segment and is_hearsay(atom, passage.speaker, passage.text) and _may_rest_on(ended, atom)
        for repetition in _places(atom, passage, value_words, slot_words, known, named=_is_named(ended))
    ]
    new_evidence = tuple(fromkey for fromkey in dict.fromkeys(repetitions) if fromkey not in ended.evidence)[
        : _room(ended)
    ]
    return ended.with_(evidence=(*ended.evidence, *new_evidence)) if new_evidence else ended


def _room(ended: Atom) -> int:
    return max(0, MOST_EVIDENCE - len(ended.evidence))


def _may_rest_on(ended: Atom, segment: Atom) -> bool:
    """Return whether a statement may have evidence in a segment: any for a user, else none that is less trusted."""
    return ended.origin is Origin.HUMAN or trust_of(segment.origin) >= trust_of(ended.origin)


def heard(turns: Sequence[Said], known: Known) -> None:
    """Attach sentences of untrusted turns to the ended statements that they repeat, so that recall withholds them."""
    for turn in turns:
        segment = known.get(AtomId(turn.segment))
        if segment is None or not is_hearsay(segment, turn.speaker, turn.text):
            continue
        words = content_words(turn.text[:_BEGINNING])
        for ended in _over(words, known):
            value_words = _value(ended)
            if not value_words or _lives_on(ended, value_words, known):
                continue
            passage = Passage(turn.n, turn.text, 0, len(turn.text), turn.speaker, turn.at)
            repetitions = tuple(
                _places(segment, passage, value_words, _key(ended, value_words), known, named=_is_named(ended))
            )
            new_evidence = tuple(place for place in repetitions if place not in ended.evidence)[: _room(ended)]
            if new_evidence:
                known.put(ended.with_(evidence=(*ended.evidence, *new_evidence)))


def _over(words: Sequence[str], known: Known) -> list[Atom]:
    """Return the ended statements that have evidence in passages with such words."""
    ended_by_id: dict[AtomId, Atom] = {}
    for atom, passage in known.search(words, STANDS, LOOKED_AT):
        if atom.is_segment:
            whole_passage = Evidence(atom.id, passage.n, 0, len(passage.text))
            ended_by_id |= {
                statement.id: statement for statement in known.on(whole_passage) if statement.status in OVER
            }
    return list(ended_by_id.values())


def is_hearsay(segment: Atom, speaker: str | None, text: str) -> bool:
    """Return whether text is not a trusted statement of a user: said by an assistant, from a document, or pasted."""
    return is_assistant(speaker) or statements_wait(segment.origin) or is_pasted(text)


def _value(ended: Atom) -> frozenset[str]:
    """Return the words by which a value is recognised; none if they are too common."""
    words = frozenset(content_words(ended.value or ""))
    return words if any(len(word) >= _SHORTEST_WORD or not word.isalpha() for word in words) else frozenset()


def _is_named(ended: Atom) -> bool:
    """Return whether a value is a name, a number or several words.

    One common word occurs in many sentences that do not repeat the statement.
    """
    value = ended.value or ""
    return len(content_words(value)) > 1 or any(char.isdigit() or char.isupper() for char in value)


def _key(ended: Atom, value: frozenset[str]) -> frozenset[str]:
    return frozenset(content_words(f"{ended.subject} {ended.attribute or ''} {ended.content}")) - value


def _places(
    atom: Atom, passage: Passage, value: frozenset[str], key: frozenset[str], known: Known, *, named: bool
) -> Iterator[Evidence]:
    """Yield the sentences of a passage that repeat a value and are evidence of no current statement."""
    passage_words = _told(passage.text)
    if not value <= passage_words.every:
        return
    for start, end, sentence_words in passage_words.sentences:
        is_short = end - start <= _SHORT_ECHO and ":" not in passage.text[start:end]
        is_in_context = (named or is_short) and (is_assistant(passage.speaker) or bool(passage_words.beginning & key))
        if not value <= sentence_words or not (sentence_words & key or is_in_context):
            continue
        evidence = Evidence(atom.id, passage.n, start, end)
        if not any(statement.status in STANDS for statement in known.on(evidence)):
            yield evidence


class _Told(NamedTuple):
    """The content words of a passage: by sentence, of the whole, and of its opening."""

    sentences: tuple[tuple[int, int, frozenset[str]], ...]
    every: frozenset[str]
    beginning: frozenset[str]


@lru_cache(maxsize=512)
def _told(text: str) -> _Told:
    """Return the content words of a passage; cached, as a long answer is compared with many ended statements."""
    by_sentence = tuple((start, end, _roots(text[start:end])) for start, end in sentences(text))
    return _Told(by_sentence, frozenset().union(*(words for _, _, words in by_sentence)), _roots(text[:_BEGINNING]))


def _roots(text: str) -> frozenset[str]:
    return frozenset(content_words(text))


def _lives_on(ended: Atom, value: frozenset[str], known: Known) -> bool:
    """Return whether a current successor has the same value again."""
    successor_ids, visited = list(ended.superseded_by), set()
    while successor_ids:
        successor = known.get(successor_ids.pop())
        if successor is None or successor.id in visited:
            continue
        visited.add(successor.id)
        if successor.status in STANDS and value <= _roots(successor.value or successor.content):
            return True
        successor_ids += successor.superseded_by
    return False
