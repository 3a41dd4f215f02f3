"""Words that only repeat what is over: a machine's echo, an import, a pasted note. They are over with it.

What is over is told by its value: such words hold the whole value and, where they are the same person's, a word of
what it was the value of. A sentence on which something rests that still stands is never taken for an echo.
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
OVER = frozenset({Status.SUPERSEDED, Status.INVALIDATED, Status.TOMBSTONED})
MOST_EVIDENCE = 50
"""The most sentences that are counted as repetitions of one statement."""
_BEGINNING = 4000
"""So many characters of a long turn tell what it is about."""
_SHORTEST_WORD = 4
_SHORT_ECHO = 40
"""Characters of a sentence that hardly says more than the word it repeats."""


def repeated(ended: Atom, known: Known) -> Atom:
    """A statement that is over, with every sentence that only repeats it among what it rests on."""
    value = _value(ended)
    if not value:
        return ended
    key = _key(ended, value)
    words = content_words(f"{ended.value} {ended.content}")
    places = [
        place
        for atom, passage in (*known.search(words, STANDS, LOOKED_AT), *known.heard())
        if atom.is_segment and is_hearsay(atom, passage.speaker, passage.text) and _may_rest_on(ended, atom)
        for place in _places(atom, passage, value, key, known, named=_is_named(ended))
    ]
    fresh = tuple(fromkey for fromkey in dict.fromkeys(places) if fromkey not in ended.evidence)[: _room(ended)]
    return ended.with_(evidence=(*ended.evidence, *fresh)) if fresh else ended


def _room(ended: Atom) -> int:
    return max(0, MOST_EVIDENCE - len(ended.evidence))


def _may_rest_on(ended: Atom, segment: Atom) -> bool:
    """Whether a statement may name words among what it rests on: of those a machine made, none trusted less."""
    return ended.origin is Origin.HUMAN or trust_of(segment.origin) >= trust_of(ended.origin)


def heard(turns: Sequence[Said], known: Known) -> None:
    """Let hearsay in these turns that repeats what is over be over as well."""
    for turn in turns:
        segment = known.get(AtomId(turn.segment))
        if segment is None or not is_hearsay(segment, turn.speaker, turn.text):
            continue
        words = content_words(turn.text[:_BEGINNING])
        for ended in _over(words, known):
            value = _value(ended)
            if not value or _lives_on(ended, value, known):
                continue
            passage = Passage(turn.n, turn.text, 0, len(turn.text), turn.speaker, turn.at)
            places = tuple(_places(segment, passage, value, _key(ended, value), known, named=_is_named(ended)))
            fresh = tuple(place for place in places if place not in ended.evidence)[: _room(ended)]
            if fresh:
                known.put(ended.with_(evidence=(*ended.evidence, *fresh)))


def _over(words: Sequence[str], known: Known) -> list[Atom]:
    """What is over of all that was made of passages with such words."""
    found: dict[AtomId, Atom] = {}
    for atom, passage in known.search(words, STANDS, LOOKED_AT):
        if atom.is_segment:
            whole = Evidence(atom.id, passage.n, 0, len(passage.text))
            found |= {each.id: each for each in known.on(whole) if each.status in OVER}
    return list(found.values())


def is_hearsay(segment: Atom, speaker: str | None, text: str) -> bool:
    """Words that nobody here vouches for: a machine's, those of a document, and what was pasted."""
    return is_assistant(speaker) or statements_wait(segment.origin) or is_pasted(text)


def _value(ended: Atom) -> frozenset[str]:
    """The words a value is recognised by; empty where they are too common."""
    words = frozenset(content_words(ended.value or ""))
    return words if any(len(word) >= _SHORTEST_WORD or not word.isalpha() for word in words) else frozenset()


def _is_named(ended: Atom) -> bool:
    """Whether a value is a name, a number or several words; one plain word stands in many sentences that do not
    repeat it."""
    value = ended.value or ""
    return len(content_words(value)) > 1 or any(char.isdigit() or char.isupper() for char in value)


def _key(ended: Atom, value: frozenset[str]) -> frozenset[str]:
    return frozenset(content_words(f"{ended.subject} {ended.attribute or ''} {ended.content}")) - value


def _places(
    atom: Atom, passage: Passage, value: frozenset[str], key: frozenset[str], known: Known, *, named: bool
) -> Iterator[Evidence]:
    told = _told(passage.text)
    if not value <= told.every:
        return
    for start, end, roots in told.sentences:
        short = end - start <= _SHORT_ECHO and ":" not in passage.text[start:end]
        around = (named or short) and (is_assistant(passage.speaker) or bool(told.beginning & key))
        if not value <= roots or not (roots & key or around):
            continue
        place = Evidence(atom.id, passage.n, start, end)
        if not any(each.status in STANDS for each in known.on(place)):
            yield place


class _Told(NamedTuple):
    """The words that say something, by their roots: of each sentence, of all of them, and of the beginning."""

    sentences: tuple[tuple[int, int, frozenset[str]], ...]
    every: frozenset[str]
    beginning: frozenset[str]


@lru_cache(maxsize=512)
def _told(text: str) -> _Told:
    """What a passage says; a machine's long answer is held against much that is over."""
    found = tuple((start, end, _roots(text[start:end])) for start, end in sentences(text))
    return _Told(found, frozenset().union(*(roots for _, _, roots in found)), _roots(text[:_BEGINNING]))


def _roots(text: str) -> frozenset[str]:
    return frozenset(content_words(text))


def _lives_on(ended: Atom, value: frozenset[str], known: Known) -> bool:
    """Whether something that stands says the same again: what was over came back."""
    ahead, seen = list(ended.superseded_by), set()
    while ahead:
        heir = known.get(ahead.pop())
        if heir is None or heir.id in seen:
            continue
        seen.add(heir.id)
        if heir.status in STANDS and value <= _roots(heir.value or heir.content):
            return True
        ahead += heir.superseded_by
    return False
