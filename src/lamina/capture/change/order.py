"""Orders to forget: imperatives and polite questions, with a verb of erasing or of not keeping."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lamina.capture.change.matter import has_clause, head, is_knowable, is_somebodys, is_thing, speaks_of_keeping
from lamina.capture.change.wordings import (
    BECAUSE,
    CONFIDED,
    COURTEOUS,
    COURTESY,
    DATA,
    ELSEWHERE,
    FOR_NOW,
    FORGETS,
    FROM_MEMORY,
    HOLDS,
    IDIOM,
    IT,
    MARKER,
    NO,
    NOTED,
    OPENS,
    PHYSICAL,
    PLACED,
    POINTS,
    POSSESSED,
    PRIVATE,
    PROMPT,
    STRONG,
    TOLD,
    UNDO_NEGATION,
    VAGUE,
    WEAK,
    YOURS,
)
from lamina.text.closed import word_set


@dataclass(frozen=True, slots=True)
class Asked:
    """Where in the sentence it says what is to be forgotten; unless `sure` it may mean something else.

    `spared` is where it goes on with what may stay.
    """

    start: int
    end: int
    sure: bool
    spared: int | None = None


_ORDERED = re.compile(
    rf"{OPENS}(?:(?P<forgets>{FORGETS})|(?P<strong>{STRONG})|(?P<weak>{WEAK})|{NO} (?:\w+ly )?{HOLDS})(?: (?:out|off|"
    rf"away))?(?! up\b)(?P<about>\b.*)"
)
_DONE = re.compile(
    r"^\W*(?:(?:so|and|then|if so|yes),? )*(?:please|kindly|(?:could|can|would|will) you(?: please)?) do "
    r"(?P<about>that|so|it|this)"
    r"(?: for (?:me|us|him|her|them))?\W*(?:please)?\W*$"
)


def ordered(said: str, *, kept: bool) -> Asked | None:
    """ "Please forget my address", "delete it from your notes", "don't keep my number"."""
    if kept and (done := _DONE.match(said)):
        return Asked(*done.span("about"), True)
    at = 0
    while found := _ORDERED.search(said, at):
        lead = said[: found.start()]
        told = kept or speaks_of_keeping(lead) or CONFIDED.search(lead) is not None
        known = _Order(said, found, told).meaning()
        if known is not None and not UNDO_NEGATION.search(said[: found.start()]):
            return known
        at = found.start("about")
    return None


_THANKS = re.compile(r",\s*please\b|\b(?:please|thanks|thank you|will you|would you|could you|cheers)\W*$")
_LOSES = re.compile(r"los|let|g[eo]t|dispos|do|rid")
"""Verbs of losing, which nobody says of words in a text."""
_CLEARED = word_set("debt debts loan loans mortgage overdraft balance history")
_RUBS = re.compile(r"(?:scrub|wip|purg)")
_MAY = re.compile(r"\byou (?:can|may|could|(?:might|may) as well)\b|\bit(?:'s| is) (?:ok|okay|fine|alright)\b")


class _Order:
    """An order in a sentence: its verb, and what it is about."""

    def __init__(self, said: str, found: re.Match[str], kept: bool) -> None:
        self._said, self._found, self._kept = said, found, kept
        self._start, self._end = found.span("about")
        self._about = said[self._start : self._end].lstrip()
        self._vague = bool(VAGUE.match(self._about)) or not self._about.strip(" .!")
        self._from = 0 if self._vague or _FROM_YOURS.match(said) else max(found.start("joint"), 0)
        self._marked = bool(MARKER.search(said, self._from))
        self._courteous = bool(COURTEOUS.search(found["lead"]) or _DO.search(found["lead"]) or _THANKS.search(said))
        self._private = bool(PRIVATE.match(self._about))

    def meaning(self) -> Asked | None:
        """What it asks to forget; None where it may well mean something else."""
        found = self._found
        verb = found["forgets"] or found["strong"] or found["weak"] or ""
        if self._is_loose() or (verb.endswith("ing") and not _GERUND.search(found["lead"])):
            return None
        if verb == "forgot" and "you" not in found["lead"]:
            return None
        if found["forgets"]:
            return self._forgotten()
        if verb:
            return self._erased()
        return self._not_held()

    def _is_loose(self) -> bool:
        """Whether it only follows a comma, with nothing that leads up to it."""
        joint, lead = self._found["joint"], self._found["lead"]
        if joint is None or joint.strip() not in ("", ","):
            return False
        led = self._marked or self._courteous or self._kept or lead.startswith("so ")
        return not led and not _is_preamble(self._said[: self._found.start()])

    def _asks(self, sure: bool) -> Asked:
        return Asked(self._start, self._end, sure)

    def _forgotten(self) -> Asked | None:
        about, marked, courteous = self._about, self._marked, self._courteous
        told = self._private or is_knowable(about) or POSSESSED.match(about) is not None
        if about.startswith(",") and not COURTESY.match(about.lstrip(", ")):
            return None
        if _AND_DO.search(about):
            return None
        if not marked and (IDIOM.match(about) or PROMPT.search(about) or FOR_NOW.search(about)):
            return None
        may = _MAY.search(self._found["lead"]) is not None
        if not marked and has_clause(about, reasoned=told and courteous and not may):
            return None
        if not (marked or told or (courteous and not _THE.match(about))) and BECAUSE.search(about):
            return None
        if not marked and (re.search(r"\bthan\b", about) or (not courteous and _ONE_WORD.match(about))):
            return None
        if may and not (marked or is_knowable(about) or self._kept):
            return None
        if self._vague and not marked:
            topic = self._kept or (len(self._said[: self._start].split()) > 3 and not _NEVER_MIND.search(self._said))
            return self._asks(True) if courteous and (topic or not IT.match(about)) else None
        return self._asks(marked or courteous or self._private)

    def _erased(self) -> Asked | None:
        about = self._about
        if _A.match(about):
            return None
        told = TOLD.match(about)
        if told and (told["known"] is None or (is_knowable(told["known"]) and not ELSEWHERE.search(told["known"]))):
            return self._asks(True)
        if PLACED.search(self._said, self._from) or (self._marked and (self._vague or POINTS.match(about))):
            return self._asks(True)
        noted = NOTED.search(about)
        if noted and ("memor" in noted.group() or not ELSEWHERE.search(about, noted.end())):
            return self._asks("memor" in noted.group())
        if FROM_MEMORY.search(about):
            own = self._private or self._courteous
            return self._asks(self._private) if own and not is_thing(about) else None
        if _ALL_ABOUT.match(about):
            return self._asks(False)
        if self._vague and self._courteous and self._kept and not (has_clause(about) or ELSEWHERE.search(about)):
            return self._asks(True)
        if _LOSES.match(self._found["weak"] or "") and self._courteous and is_somebodys(about, DATA):
            return self._asks(False) if not (has_clause(about) or ELSEWHERE.search(about)) else None
        if self._found["weak"] or has_clause(about):
            return None
        if self._vague:
            return None
        if _RUBS.match(self._found["strong"] or "") and not is_knowable(about):
            return None
        theirs = (self._private or is_somebodys(about)) and head(about) not in _CLEARED
        return self._asks(False) if theirs and not (is_thing(about) or ELSEWHERE.search(about)) else None

    def _not_held(self) -> Asked | None:
        about, memory = self._about, self._found["memory"]
        if self._marked:
            return self._asks(True)
        if has_clause(about) or ELSEWHERE.search(about):
            return None
        if self._vague and self._courteous and len(self._said[: self._found.start()].split()) > 2:
            return self._asks(bool(memory))
        theirs, known = is_somebodys(about), is_knowable(about) or self._vague
        if PHYSICAL.search(self._found.group()[: -len(about)]) and not (known or _ABOUT_MY.match(about)):
            return None
        if memory:
            firm = self._courteous or "stop" in self._found.group()
            named = theirs or self._private or _ABOUT_MY.match(about)
            return self._asks(firm) if named or (self._vague and self._courteous) else None
        return self._asks(theirs and self._courteous) if (theirs or self._private) and not is_thing(about) else None


_THE = re.compile(r"(?:about )?(?:the|a|an|that|this|those|these|any|some)\b")
_AND_DO = re.compile(r"\b(?:and|then) (?:just |please |instead )?(?:use|write|answer|start|try|make|explain|do)\b")
_ONE_WORD = re.compile(r"(?:about )?the [\w-]+\W*$")
_A = re.compile(r"(?:a|an|me|us|my memor(?:y|ies))\b")
_FROM_YOURS = re.compile(rf"\W*(?:from|in|off|out of) {YOURS}\b")
_DO = re.compile(r"\bdo\s")
_ABOUT_MY = re.compile(r"(?:anything|everything|what i (?:said|told you)) (?:about|on|regarding) \w+")
_GERUND = re.compile(r"\bmind\b|\bof you\b|\bappreciate you\b")
_ALL_ABOUT = re.compile(
    r"(?:everything|anything|all|whatever)(?: there is)? (?:about|regarding|concerning|to do with|related to)\b"
)
_NEVER_MIND = re.compile(r"\bnever ?mind\b|\bwhatever\b")


def _is_preamble(before: str) -> bool:
    """Whether what stands before a comma only leads up to an order."""
    return (
        len(before.split()) <= 3
        or re.search(
            r"\b(?:told you|private|secret|mistake|moved|changed|shouldn't have|no longer|sold|over|business)\b", before
        )
        is not None
    )
