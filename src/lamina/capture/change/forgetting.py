"""Requests to forget, and what they are about.

What is to be forgotten is not parsed: words of erasing, of memory and of courtesy are taken away, and what is left
names it. Where nothing is left it is what was said before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

from lamina.capture.change.asking import asked
from lamina.capture.change.matter import speaks_of_keeping, tells_a_fact
from lamina.capture.change.wordings import CUE, POINTS
from lamina.capture.rules.classes import is_pasted
from lamina.capture.rules.prose import fenced
from lamina.text.closed import AUXILIARIES, DETERMINERS, FUNCTION_WORDS, word_set
from lamina.text.sentences import sentences
from lamina.text.verbs import looks_finite

LONGEST = 400
"""Longer sentences ask for something else."""


@dataclass(frozen=True, slots=True)
class Request:
    """A sentence that asks to forget something.

    `target` holds the words that name it. Where there are none it is what `back` says: characters of the same turn,
    or of the turn before where `turn_before`. Unless `sure`, it is a request only where the target names something
    known word for word. `own`: it is the speaker's; `everything`: all there is about it, but for what `spared` names.
    """

    start: int
    end: int
    target: str
    sure: bool
    own: bool = False
    everything: bool = False
    back: tuple[tuple[int, int], ...] = ()
    turn_before: bool = False
    spared: str = ""


def requests(text: str, before: str = "") -> list[Request]:
    """The requests to forget of a turn, in their order; `before` is what the same person said in the turn before."""
    if not CUE.search(text):
        return []
    spans, code = sentences(text), fenced(text)
    found: list[Request] = []
    for at, (start, end) in enumerate(spans):
        sentence = text[start:end]
        set_apart = any(first <= start < last for first, last in code) or _SET.match(sentence)
        if len(sentence) > LONGEST or len(sentence.lower()) != len(sentence) or set_apart:
            continue
        fresh = _Asking(text, spans[: at + 1], before, found).found()
        if fresh and not is_pasted(text[:start] + " " + text[end:]):
            found += fresh
    return found


class _Asking:
    """One sentence of a turn being read for what it asks to forget."""

    def __init__(self, text: str, spans: list[tuple[int, int]], before: str, found: list[Request]) -> None:
        self._text, self._before, self._earlier, self._found = text, before, spans[:-1], found
        self._start, self._end = spans[-1]

    def found(self) -> list[Request]:
        topic = _topic(self._text, self._earlier)
        sentence = topic + self._text[self._start : self._end]
        order = asked(_plain(sentence), kept=bool(self._asked_before() or self._kept()), told=self._told())
        if order is None:
            return []
        about = sentence[order.start : order.end]
        spared = _named(sentence[order.spared :]) if order.spared is not None else ""
        if POINTS.match(_plain(about)):
            return self._pointing(sentence[: order.start], spared, sure=order.sure, everything=_is_all(about))
        if _ALL_OF_ME.search(sentence) and not _named(about):
            return []
        whose = sentence[: order.start] if _THEIRS.match(about) else ""
        named = [f"{_named(whose)} {name}".strip() for each in _several(about) if (name := _named(each))]
        own = _OWN.match(about) is not None or _OWN_LATER.search(about) is not None
        made = Request(self._start, self._end, "", order.sure, own, _is_all(about), spared=spared)
        return [replace(made, target=each) for each in named]

    def _pointing(self, lead: str, spared: str, *, sure: bool, everything: bool) -> list[Request]:
        """The request where a pronoun stands for what it is about: it was named before, or is what was said last."""
        made = Request(self._start, self._end, "", sure, everything=everything, spared=spared)
        if target := "" if _SAYS_OF_IT.match(lead) else _named(lead):
            return [replace(made, target=target, own=_OWN_LATER.search(f"of {lead}") is not None)]
        if not sure:
            return []
        if last := self._asked_before():
            return [replace(last, start=self._start, end=self._end, sure=True)]
        if kept := self._kept():
            return [replace(made, target=_named(kept), own=_MINE.search(kept) is not None)]
        back, turn_before = next(self._said_last(everything=everything), ((), False))
        return [replace(made, back=back, turn_before=turn_before)] if back else []

    def _asked_before(self) -> Request | None:
        """What the sentence before asks for."""
        last = self._found[-1] if self._found else None
        return last if last and self._earlier and self._earlier[-1] == (last.start, last.end) else None

    def _told(self) -> bool:
        """Whether the sentence before says what somebody's number, age or address is."""
        start, end = self._earlier[-1] if self._earlier else (0, 0)
        return tells_a_fact(_plain(self._text[start:end]))

    def _kept(self) -> str:
        """What was said just before of something that is kept and perhaps should not be."""
        for start, end in self._earlier[: -_FEW_BACK - 1 : -1]:
            said = self._text[start:end]
            if _named(said):
                return said if speaks_of_keeping(_plain(said)) else ""
        return ""

    def _said_last(self, *, everything: bool) -> Iterator[tuple[tuple[tuple[int, int], ...], bool]]:
        """The sentences that tell something, of this turn or of the one before."""
        for told, turn_before in ((self._text, False), (self._before, True)):
            said = sentences(told) if turn_before else self._earlier
            spans = [each for each in said if _tells(told[each[0] : each[1]])]
            if spans:
                yield tuple(spans if everything else spans[-1:]), turn_before


def _plain(text: str) -> str:
    return text.replace("’", "'").lower()


def _is_all(about: str) -> bool:
    return _ALL.search(about) is not None


def _several(about: str) -> list[str]:
    """What is named, one by one: "my street and my door number" are two things."""
    parts = _AND_MY.split(about)
    return parts if all(_named(each) for each in parts) else [about]


def _topic(text: str, earlier: list[tuple[int, int]]) -> str:
    """What the sentence before only names, for one that goes on with it: "My shoe size? Forget it, please." """
    if not earlier:
        return ""
    words = text[earlier[-1][0] : earlier[-1][1]].rstrip("?!.… ")
    named = [each.lower() for each in _NAMING.findall(words)]
    if not 1 < len(named) <= _LONGEST_TOPIC or named[0] not in _NAMES_ONLY:
        return ""
    asks = text[: earlier[-1][1]].rstrip()[-1:] in "?:…"
    told = any(each in AUXILIARIES or "'" in each or (not asks and looks_finite(each)) for each in named[1:])
    return "" if told else f"{words}, "


def _tells(sentence: str) -> bool:
    """Whether a sentence says something of somebody that could be forgotten."""
    if sentence.rstrip("\"'”’)!.* ").endswith("?") or len(_WORD.findall(sentence)) < _FEWEST:
        return False
    return _SPEAKS.search(sentence) is not None


def _named(words: str) -> str:
    """The words that name something, in their order; courtesy, erasing, memory and reasons are left out."""
    told = _REASON.split(_BANKS.sub(" ", words.replace("’", "'")), maxsplit=1)[0]
    said = ["", *_NAMING.findall(told)]
    kept = [each for last, each in pairwise(said) if not _is_noise(last.lower(), each.lower())]
    return " ".join(kept)


def _is_noise(last: str, word: str) -> bool:
    """Whether a word names nothing; "first, forget …" is none, "my first flat" is one."""
    return word.removesuffix("'s") in NOISE and not (
        (word in _TELLING and last in DETERMINERS) or (word in ("record", "records") and last in _RECORDS)
    )


_FEWEST = 3
_FEW_BACK = 2
_NAMES_ONLY = frozenset({"my", "our", "the", "that", "all", "everything", "what"})
_RECORDS = frozenset({"criminal", "medical", "health", "police", "school", "dental", "driving"})
_TELLING = frozenset({"first", "second", "sort"})
_LONGEST_TOPIC = 8
_WORD = re.compile(r"[^\W_]+")
_NAMING = re.compile(r"[^\W_]+(?:['._@+/:-][^\W_]+)*")
_BANKS = re.compile(r"\bmemory banks?\b", re.IGNORECASE)
_SET = re.compile(r"\s*(?:>|\||#|\[|<|```)")
_SPEAKS = re.compile(r"\b(?:i|i['’]\w+|my|our|we|me|us|mine)\b|\w\s+[A-Z\d]", re.IGNORECASE)
_ALL = re.compile(r"\b(?:everything|anything|all|whatever|any of|nothing|both|entire|whole)\b", re.IGNORECASE)
_OWN = re.compile(
    r"\W*(?:(?:about|that|all|any|of|the fact|everything|anything|what|where|how) )*(?:my|our|i|we)\b", re.IGNORECASE
)
_ALL_OF_ME = re.compile(
    r"\b(?:everything|anything|all|whatever)\b.*(?:\b(?:about|of|on) (?:me|us|myself)\b|\byou(?:'ve| have)? (?:know|"
    r"have|"
    r"stored|remember))",
    re.IGNORECASE,
)
_THEIRS = re.compile(r"\W*(?:about )?(?:his|her|their)\b(?=\s\w)", re.IGNORECASE)
_AND_MY = re.compile(
    r"\s*,?\s+(?:and|plus|as well as|along with)(?: also)? (?=(?:my|our)\b)|\s*,\s+(?=(?:my|our)\b)", re.IGNORECASE
)
_SAYS_OF_IT = re.compile(
    r"\W*(?:sorry,? |but |and |well,? )*(?:that|this|it|which|those|these)(?:['’]s| was| is| were| are)\b",
    re.IGNORECASE,
)
_MINE = re.compile(r"\b(?:my|our)\b(?! (?:books?|records?|files?|notes)\b)", re.IGNORECASE)
_OWN_LATER = re.compile(r"\b(?:about|regarding|on|of|concerning) (?:my|our)\b", re.IGNORECASE)
_REASON = re.compile(
    r"[\s,;–—(-]+(?=(?:because|since|cause|cos|as (?:i|it|we|she|he|they|that)|now that|so (?:that|nobody|no one)|"
    r"in case)\b)"
    r"|\s*[,;–—(]+\s*(?=(?:it|that|this|they|she|he|i|we|those|these|which|nobody)\b)",
    re.IGNORECASE,
)
_ERASING = """
    forget forgot forgotten forgetting unlearn unlearned unremember disremember erase erased erasing delete deleted
    deleting wipe wiped wiping scrub scrubbed scrubbing expunge expunged purge purged purging unsave remove removed
    removing strike struck striking drop dropped dropping scratch scratched clear cleared clearing redact redacted
    discard discarded dump ditch destroy destroyed bin trash rid lose losing lost let throw toss rub blot cross
    eliminate eliminated shred withdraw dispose clean keep keeping kept leave take taking get getting gone stop quit
    cease refrain avoid pretend act behave consider belong place vanish disappear fade slip stay stays remain remains
    go goes come pull cut put
"""
_REMEMBERING = """
    memory memories notes note notebook record records recorded recording file files filed profile log logs
    logged database storage knowledge head mind brain books archive archives dossier system remember remembering
    remembered memorise memorize memorised retain retained retaining store stored storing hold holding held hang
    hanging hung save saved saving recall preserve know knowing known knew learned learnt heard mention mentioned
    mentioning told tell telling said say saying gave give given shared share confided reveal revealed disclosed wrote
    write written jot carry bring brought spoke speak talk talked discuss discussed
"""
_COURTEOUS = """
    please pls plz kindly thanks thank thx sorry ok okay hey hi hello oh yes yeah right alright listen look wait hmm
    um btw like want wanted need needed wish rather prefer preferred sooner love appreciate grateful glad happy
    happier feel better best safer great good nice lovely wise ideal favour favor kind enough sure free welcome fine
    time chance possible request asking ask beg insist mind able second thoughts thought hindsight moment minute
    quickly completely permanently immediately entirely totally forever anymore longer business none place reason
    point privacy private personal sensitive secret regarding concerning regards regard subject topic matter related
    thing things stuff anything everything something nothing whatever bit part fact ever never again any all whole
    entire both last earlier previously previous before today now ago already still currently really actually simply
    just also maybe perhaps done supposed meant allowed should've cheers would could going forward mean safely gladly
    better-off yours except excepting apart aside exception comfortable uncomfortable unhappy uneasy wants wanted asks
    asked anyone anybody somebody someone lying sitting hanging around call cause use further necessary behalf
    confidence confidential taken
"""
NOISE = FUNCTION_WORDS | word_set(_ERASING) | word_set(_REMEMBERING) | word_set(_COURTEOUS) | word_set(
    "dont didnt doesnt wont cant i'm i've i'd i'll he'd she'd they'd he's she's they've you're you've you'd you'll "
    "it's that's don't doesn't didn't shouldn't mustn't needn't won't "
    "can't couldn't wouldn't isn't aren't wasn't let's there's what's we're we've they're s t m d ll re ve"
)  # fmt: skip
"""Words that are about forgetting and never about what is to be forgotten."""
