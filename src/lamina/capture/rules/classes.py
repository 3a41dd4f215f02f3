"""What sort of statement a sentence makes: sorts that assert nothing are told first, and the first that fits wins."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache


def _any(*cues: str) -> re.Pattern[str]:
    return re.compile(r"(?<![\w'])(?:" + "|".join(cues) + r")(?![\w])", re.IGNORECASE)


_HYPOTHETICAL = _any(
    r"suppose", r"supposing", r"imagine", r"what if", r"pretend(?:ing)?", r"assuming", r"if only", r"in theory",
    r"hypothetically", r"i wish", r"we wish", r"let's say", r"were i",
    r"(?:would|could|might|'d)(?: not|n't)? have \w+", r"should(?: not|n't)? have (?!been\b)\w+", r"as (?:if|though)",
    r"turned (?:it|them|that|him|her) down", r"nearly",
    r"almost(?! (?:every|all|always|daily|never|a|an|two|three|\d))",
    r"if (?:i|we|it|they|he|she|you|the|my|our|there|that|this|only|not)", r"would be", r"wouldn't mind", r"had we",
    r"had i", r"thought experiment", r"in (?:an|some) alternate", r"in another life", r"if ever", r"otherwise i",
    r"say i",
)  # fmt: skip
_HEDGE = _any(
    r"might", r"maybe", r"perhaps", r"possibly", r"thinking (?:about|of)", r"thought (?:about|of)", r"considering",
    r"considered", r"tempted", r"toying", r"undecided", r"not (?:yet )?(?:sure|certain|convinced)",
    r"n't (?:sure|certain|know|decided|remember)", r"unsure", r"who knows", r"leaning", r"eyeing", r"weighing(?! in)",
    r"looking into", r"probably", r"some ?day", r"one day", r"rumou?rs?", r"supposedly", r"apparently",
    r"i (?:guess|suppose|think|reckon|doubt|wonder|imagine|assume|believe|suspect|bet)", r"wondering", r"debating",
    r"(?:in|of) two minds", r"on the fence", r"contemplating", r"pondering", r"mulling", r"fanc(?:y|ied)",
    r"seems?(?: like| to)?", r"looks? like", r"sounds? like", r"(?:un)?likely", r"hopefully", r"potentially",
    r"fingers crossed", r"(?<!\d )(?-i:may) (?!\d)[a-z]+", r"could (?:be|go|use|see|get)",
    r"dream(?:t|ed|ing|s)? (?:of|about|that)", r"half a mind", r"flirting with", r"or so i hear", r"no idea",
    r"i heard", r"i've heard", r"we heard", r"they say", r"people say", r"i (?:forget|forgot)", r"if i recall",
    r"kick(?:ing|ed) around", r"exploring the idea", r"sort of plan", r"not (?:really )?decided", r"up in the air",
    r"at some point", r"sooner or later", r"eventually", r"in the cards", r"we'll see", r"open to",
    r"float(?:ed|ing)", r"talk (?:of|that|about us|in the)", r"thought experiment",
    r"thinks? (?:they|we|it|he|she) (?:could|might|may)",
    r"nobody knows", r"playing with (?:numbers|the idea)", r"suggest(?:ed|s)", r"propos(?:ed|es)",
    r"keep(?:ing)? an eye on", r"sleep(?:ing)? on it", r"penciled", r"pencilled",
)  # fmt: skip
_JEST = _any(
    r"(?:just|only) (?:kidding|joking|messing|teasing)", r"jk(?![@.\w])", r"lol", r"yeah,? right", r"ha,? sure",
    r"as if!",
    r"in my dreams", r"i'm joking", r"the (?:advert|slogan|jingle|song|tagline) (?:goes|says|is|runs)",
)  # fmt: skip
_WORKS = (
    r"(?:novel|story|dream|play|film|movie|script|campaign|comic|screenplay|scene|sketch|role-?play|fanfic|musical|"
    r"nightmare|simulation)"
)
_FICTION = _any(
    rf"in (?:my|the|our|a|this|that|his|her) (?:\w+ )?{_WORKS}",
    r"(?:my|our|the|his|her) (?:\w+ )?(?:character|protagonist|heroine|hero|villain|avatar|narrator)(?:'s)?",
    r"translate\w*", r"how do (?:you|i) say", r"for (?:example|instance)", r"e\.g\.?", r"i\.e\.?",
    r"sample (?:sentence|text|data|line)", r"placeholder", r"dummy", r"example sentence", r"in the exercise",
    r"play(?:ing|ed)? the (?:part|role) of", r"i dreamt", r"i dreamed", r"role-?play\w*", r"fictional", r"made-up",
    r"lyrics?", r"proverb", r"the saying",
    r"(?:novel|story|book|film|screenplay|poem) (?:is )?about an? \w+ (?:who|that)", r"write (?:me )?an?",
)  # fmt: skip
_SPEAKERS = (
    r"he|she|they|people|everyone|everybody|someone|somebody|word|"
    r"(?:[Tt]he|[Aa]n?|[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir) \w+(?: [A-Z]\w+)?|"
    r"[A-Z][\w'-]+(?: (?!I\b)[A-Z][\w'-]+)?|\w+ (?:friend|brother|sister|neighbou?r|boss|colleague)"
)
_SAYS = (
    r"said|says|saying|told|tells|telling|claim(?:s|ed|ing)?|wrote|writes|reckons?|thinks?|thought|believes|"
    r"believed|insist(?:s|ed|ing)?|swears?|swore|suggest(?:s|ed)?|recommend(?:s|ed)?|mention(?:s|ed)?|announced|"
    r"announces|reads|keeps saying|joked|jokes|bragg?ed|brags|argues|argued|asked|asks|shouted|boasts?|boasted|"
    r"quipped|wants me to|warned|warns|predicts|predicted|assumes|wishes|hopes|guesses|texted|posted"
)
_REPORTED = re.compile(
    rf"(?:^|[,;:.!?\s\"'“])(?!(?:I|i|we|We)\b)(?:{_SPEAKERS})"
    r"(?: (?:just|also|always|once|recently|still|has|have|had|even|really|keeps?|first))?"
    rf" (?:{_SAYS})\b(?! (?:hello|hi|yes|no|goodbye|thanks)\b)"
)
_ACCORDING = _any(
    r"according to", r"word is", r"word has it", r"rumou?r has it",
    r"the (?:sign|poster|article|headline|leaflet|ad|label) (?:says|said|reads)",
)  # fmt: skip
_QUOTATION = re.compile(r"[\"“”«»]|(?<!\w)['‘][^'’‘]{2,80}['’](?!\w)")
_SPEECH = re.compile(rf"\b(?:{_SAYS}|quote|goes|chant|sang|sings|motto|lyric)\b|:", re.IGNORECASE)
_PAST_STATE = _any(
    r"used to", r"formerly", r"back then", r"once (?:lived|worked|had|owned|was|were|played)",
    r"as a (?:child|kid|teen|teenager|boy|girl|student)", r"when (?:i|we) (?:was|were)", r"growing up",
    r"in those days", r"at the time", r"before that", r"(?:many|several|some|\d+|ten|twenty) years ago",
    r"years back", r"in my (?:youth|twenties|teens|childhood)", r"once upon a time", r"was originally", r"previously",
)  # fmt: skip
_PRESENT = _any(
    r"now", r"these days", r"nowadays", r"currently", r"moved", r"today", r"since then", r"at present", r"still",
)  # fmt: skip
_CORRECTION = _any(
    r"oops", r"whoops", r"correction(?=\s*[:,.!–—-])", r"i meant", r"i mean", r"misread", r"misspoke", r"typo",
    r"wrong",
    r"(?:isn't|is not|wasn't|not|'s not) (?:right|correct|true|quite right|accurate)", r"scratch that",
    r"strike that", r"(?<!so )(?<!please )make that", r"hang on", r"hold on", r"wait(?=\s*[,.!–—-])", r"mixed up",
    r"mistaken",
    r"mistake", r"should have (?:been|said)", r"was never", r"were never", r"let me correct", r"to correct",
    r"my bad", r"apologies", r"i got (?:that|it|the) \w*\s?wrong", r"muddled", r"slip of", r"mistyped",
    r"not \w+(?: \w+)? but \w+", r"rather than what i said", r"i misremembered", r"misremembered", r"miscounted",
)  # fmt: skip
_CORRECTING_START = re.compile(r"^\W*(?:actually\b|(?:no|sorry|nope|er|erm|um|rather)\b\s*[,.:–—-])", re.IGNORECASE)
_ADDITIVE = _any(
    r"also", r"as well", r"another", r"a second", r"a third", r"on top of", r"took up", r"taken up", r"picked up",
    r"adopted", r"alongside", r"one more", r"in addition", r"additionally", r"plus", r"besides", r"extra",
)  # fmt: skip
_TOO = re.compile(r"\btoo\s*[.!,;]|\btoo$", re.IGNORECASE)
_CHANGE = _any(
    r"now", r"these days", r"nowadays", r"switched", r"changed", r"replaced", r"swapped", r"traded", r"instead",
    r"no longer", r"n't \w+ any ?more", r"left", r"sold", r"quit", r"gave up", r"given up", r"back to",
    r"rather than", r"from (?:today|now)", r"took over", r"takes over", r"converted", r"done with", r"moved",
    r"since", r"just", r"new", r"again", r"went up", r"raised", r"appointed", r"promoted", r"renamed", r"reverted",
    r"migrated", r"upgraded", r"became", r"dropped", r"shifted", r"gone off",
)  # fmt: skip
_PASTED = re.compile(
    r"\A\s*>|\b(?:old|earlier|archived|previous|ancient|outdated)\b[^.!?]{0,30}"
    r"\b(?:chat|notes?|logs?|transcript|sheet|minutes|thread|message|newsletter|document|backup|draft)\b"
    r"|\b(?:pasting|pasted|copy-?past\w+|copied (?:from|over|this)|export(?:ed)? (?:of|from)|found this|"
    r"forward(?:ed|ing)|transcript|from the archive)\b"
    r"|\b(?:came across|found|dug (?:up|out)|stumbled (?:on|upon|across))\b[^.!?]{0,60}"
    r"\b(?:wrote|said|told you|sent|noted|message|note)\b",
    re.IGNORECASE,
)
_ERASE = r"\b(?:forget|erase|delete|remove|wipe|scrub|purge|unlearn|forgotten|erased|deleted|removed|wiped|gone)\b"
_FORGET = re.compile(
    rf"{_ERASE}[^.!?]{{0,80}}\b(?:memory|notes|records?|on file|know|remember|remembered|stored?)\b"
    rf"|\b(?:memory|notes|records?|on file)\b[^.!?]{{0,60}}{_ERASE}"
    r"|\bshould(?:n't| not)? be (?:forgotten|remembered|stored|kept)\b|\bplease forget\b|\bstop remembering\b"
    r"|\bdon't (?:keep|store|remember|save)\b|\bforget (?:about|that|my|our|the|what|everything)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sort:
    """What the words around a statement make of it. `asserts` is false where it claims nothing."""

    asserts: bool
    why: str = ""
    past_state: bool = False
    corrects: bool = False
    additive: bool = False
    changes: bool = False


@lru_cache(maxsize=4096)
def is_pasted(turn: str) -> bool:
    """Whether a turn brings in words from elsewhere."""
    return _PASTED.search(turn) is not None


def corrects(sentence: str) -> bool:
    """Whether a sentence says that what was said was wrong."""
    return bool(_CORRECTION.search(sentence) or _CORRECTING_START.match(sentence))


def says_wrong(sentence: str) -> bool:
    """Whether it says so outright, and does not only begin with a no."""
    return bool(_CORRECTION.search(sentence))


def sort_of(sentence: str) -> Sort:
    """What sort of statement a sentence makes."""
    text = sentence.replace("’", "'")
    for why, told in _FORBIDDEN:
        if told(text):
            return Sort(False, why)
    return Sort(
        True,
        past_state=bool(_PAST_STATE.search(text)) and not _PRESENT.search(text),
        corrects=corrects(text),
        additive=bool(_ADDITIVE.search(text) or _TOO.search(text)),
        changes=bool(_CHANGE.search(text)),
    )


def _is_question(text: str) -> bool:
    return text.rstrip("\"'”’)!.* ").endswith("?")


def _is_quoted(text: str) -> bool:
    if _ACCORDING.search(text) or _REPORTED.search(text):
        return True
    return bool(_QUOTATION.search(text) and _SPEECH.search(text))


_FORBIDDEN = (
    ("question", _is_question),
    ("forget", lambda text: _FORGET.search(text) is not None),
    ("hypothetical", lambda text: _HYPOTHETICAL.search(text) is not None),
    ("hedge", lambda text: _HEDGE.search(text) is not None),
    ("jest", lambda text: _JEST.search(text) is not None),
    ("fiction", lambda text: _FICTION.search(text) is not None),
    ("quoted", _is_quoted),
)
