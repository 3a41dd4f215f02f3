"""The story of rules extraction: a turn falls into sentences, those into clauses; each that holds is said anew."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import MAXYEAR

from lamina.atom.atom import Evidence
from lamina.capture.found import Finding, Said
from lamina.capture.rules.classes import corrects, is_pasted
from lamina.capture.rules.context import completed
from lamina.capture.rules.prose import fenced, is_prose
from lamina.capture.rules.rewrite import USER
from lamina.capture.rules.statements import Sentence, Speaker, statements
from lamina.text.normal import one_line
from lamina.text.roles import is_assistant, is_role
from lamina.text.sentences import sentences

_LONGEST_TURN = 20_000
_LONGEST_SENTENCE = 400
_CONTEXT_TURNS = 6
_FIRST_PERSON_LEFT = re.compile(r"\w['’]m\b")
"""A sentence in which somebody still speaks was not understood."""


class RulesExtractor:
    """Reads statements off plain English grammar; what is foreign, not asserted or not particular yields nothing."""

    name = "rules"
    instant = True

    def extract(self, turns: Sequence[Said], before: Sequence[Said] = ()) -> list[Finding]:
        """Every statement the turns make, in their order; `before` are the turns that led up to them."""
        called = _called((*before, *turns))
        found: list[Finding] = []
        for turn in turns:
            if is_assistant(turn.speaker):
                continue
            stated = list(_turn(turn, called))
            if any(not each.content for each in stated):
                earlier = found or self._earlier(before, called)
                stated = [whole for each in stated if (whole := completed(each, [*earlier, *stated]))]
            found += stated
        return found

    def _earlier(self, before: Sequence[Said], called: frozenset[str]) -> list[Finding]:
        """What the people said last, for a correction that only names its value."""
        own = [turn for turn in before if not is_assistant(turn.speaker)][-_CONTEXT_TURNS:]
        return [each for turn in own for each in _turn(turn, called) if each.content]


def _called(turns: Sequence[Said]) -> frozenset[str]:
    """The names by which the speakers may call each other."""
    return frozenset(one_line(turn.speaker).lower() for turn in turns if turn.speaker and not is_role(turn.speaker))


def _turn(turn: Said, called: frozenset[str]) -> Iterator[Finding]:
    """The statements of one turn; a correction that only names its value comes without content."""
    if len(turn.text) > _LONGEST_TURN or is_pasted(turn.text) or not 1 < turn.at.year < MAXYEAR:
        return  # at the edge of the calendar no day lies before or after another
    speaker = _speaker(turn, called)
    correcting = False
    heard: set[str] = set()
    code = fenced(turn.text)
    for start, end in sentences(turn.text):
        text = turn.text[start:end]
        if len(text) > _LONGEST_SENTENCE or text in heard or not is_prose(text):
            continue
        if any(first <= start < last for first, last in code):
            continue
        heard.add(text)
        evidence = Evidence(turn.segment, turn.n, start, end)
        found = statements(Sentence(text, speaker, turn.at, evidence, correcting))
        found = [each for each in found if not _FIRST_PERSON_LEFT.search(each.content)]
        yield from (_corrected(each) for each in found) if correcting else found
        correcting = corrects(text) and not any(each.attribute or not each.content for each in found)


def _corrected(finding: Finding) -> Finding:
    return replace(finding, corrects=True, kind="correction" if finding.kind == "fact" else finding.kind)


def _speaker(turn: Said, called: frozenset[str]) -> Speaker:
    if turn.speaker is None or is_role(turn.speaker):
        return Speaker(USER, "user", called)
    name = one_line(turn.speaker)
    return Speaker(name, name, called - {name.lower()})
