"""Requests to forget, and what they are about.

What is to be forgotten is not parsed: words of erasing, of memory and of courtesy are taken away, and what is left
names it. Where nothing is left it is what was said before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from lamina.capture.change.asking import asked
from lamina.capture.change.wordings import CUE
from lamina.capture.rules.classes import is_pasted
from lamina.capture.rules.prose import fenced
from lamina.text.closed import AUXILIARIES, FUNCTION_WORDS, word_set
from lamina.text.sentences import sentences

LONGEST = 400
"""Longer sentences ask for something else."""


@dataclass(frozen=True, slots=True)
class Request:
    """A sentence that asks to forget something.

    `target` holds the words that name it. Where there are none it is what `back` says: characters of the same turn,
    or of the turn before where `turn_before`. Unless `sure`, it is a request only where the target names something
    known word for word. `own`: it is the speaker's; `everything`: all there is about it.
    """

    start: int
    end: int
    target: str
    sure: bool
    own: bool = False
    everything: bool = False
    back: tuple[tuple[int, int], ...] = ()
    turn_before: bool = False


def requests(text: str, before: str = "") -> list[Request]:
    """The requests to forget of a turn, in their order; `before` is what the same person said in the turn before."""
    if not CUE.search(text):
        return []
    spans, code = sentences(text), fenced(text)
    found: list[Request] = []
    for at, (start, end) in enumerate(spans):
        sentence = text[start:end]
        said = sentence.replace("’", "'").lower()
        set_apart = any(first <= start < last for first, last in code) or _SET.match(sentence)
        if len(sentence) > LONGEST or len(said) != len(sentence) or set_apart:
            continue
        topic = _topic(text, spans[:at])
        order = asked(topic.replace("’", "'").lower() + said) if topic else asked(said)
        if order is None or is_pasted(text[:start] + " " + text[end:]):
            continue
        sentence = topic + sentence
        about, around = sentence[order.start : order.end], f"{sentence[: order.start]} , {sentence[order.end :]}"
        target = _named(about) or _named(around)
        everything = _ALL.search(about) is not None
        if target:
            own = _OWN.match(about) is not None or _OWN_LATER.search(about) is not None
            found.append(Request(start, end, target, order.sure, own, everything))
        elif order.sure and not (everything and _OF_ME.search(sentence)):
            found += _pointing(start, end, text, spans[:at], before, everything=everything)
    return found


def _pointing(
    start: int, end: int, text: str, earlier: list[tuple[int, int]], before: str, *, everything: bool
) -> Iterator[Request]:
    """The request where it names nothing: it points at what was said last."""
    for told, turn_before in ((text, False), (before, True)):
        spans = [each for each in (sentences(told) if turn_before else earlier) if _tells(told[each[0] : each[1]])]
        if spans:
            chosen = tuple(spans if everything else spans[-1:])
            yield Request(start, end, "", True, back=chosen, turn_before=turn_before)
            return


def _topic(text: str, earlier: list[tuple[int, int]]) -> str:
    """What the sentence before only names, for one that goes on with it: "My shoe size? Forget it, please." """
    if not earlier:
        return ""
    words = text[earlier[-1][0] : earlier[-1][1]].rstrip("?!.… ")
    named = [each.lower() for each in _NAMING.findall(words)]
    if not 1 < len(named) <= _LONGEST_TOPIC or named[0] not in ("my", "our", "the", "that"):
        return ""
    return "" if any(each in AUXILIARIES or "'" in each for each in named) else f"{words}, "


def _tells(sentence: str) -> bool:
    """Whether a sentence says something of somebody that could be forgotten."""
    if sentence.rstrip("\"'”’)!.* ").endswith("?") or len(_WORD.findall(sentence)) < _FEWEST:
        return False
    return _SPEAKS.search(sentence) is not None


def _named(words: str) -> str:
    """The words that name something, in their order; courtesy, erasing, memory and reasons are left out."""
    told = _REASON.split(_BANKS.sub(" ", words.replace("’", "'")), maxsplit=1)[0]
    kept = [each for each in _NAMING.findall(told) if each.lower().removesuffix("'s") not in NOISE]
    return " ".join(kept)


_FEWEST = 3
_LONGEST_TOPIC = 8
_WORD = re.compile(r"[^\W_]+")
_NAMING = re.compile(r"[^\W_]+(?:['._@+/:-][^\W_]+)*")
_BANKS = re.compile(r"\bmemory banks?\b", re.IGNORECASE)
_SET = re.compile(r"\s*(?:>|\||#|\[|<|```)")
_SPEAKS = re.compile(r"\b(?:i|i['’]\w+|my|our|we|me|us|mine)\b|\w\s+[A-Z\d]", re.IGNORECASE)
_ALL = re.compile(r"\b(?:everything|anything|all|whatever|any of|nothing|both|entire|whole)\b", re.IGNORECASE)
_OF_ME = re.compile(
    r"\b(?:about|of|on) (?:me|us|myself)\b|\byou(?:'ve| have)? (?:know|have|stored|remember)", re.IGNORECASE
)
_OWN = re.compile(
    r"\W*(?:(?:about|that|all|any|of|the fact|everything|anything|what|where|how) )*(?:my|our|i|we)\b", re.IGNORECASE
)
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
    better-off yours
"""
NOISE = FUNCTION_WORDS | word_set(_ERASING) | word_set(_REMEMBERING) | word_set(_COURTEOUS) | word_set(
    "i'm i've i'd i'll you're you've you'd you'll it's that's don't doesn't didn't shouldn't mustn't needn't won't "
    "can't couldn't wouldn't isn't aren't wasn't let's there's what's we're we've they're s t m d ll re ve"
)  # fmt: skip
"""Words that are about forgetting and never about what is to be forgotten."""
