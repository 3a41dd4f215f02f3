"""A recall request, and what is understood of its question."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from lamina.atom.atom import Atom
from lamina.atom.kinds import Layer, MemoryType
from lamina.atom.provenance import Scope
from lamina.atom.status import ENDED, INCLUDE_OPTIONS, RECALL_WEIGHT, Status
from lamina.errors import InvalidInput
from lamina.recall.recall_view import NOW, RecallView, ViewTime, is_admitted, is_listed
from lamina.recall.speaker_names import find_speakers, remove_speakers
from lamina.text.analyser import QueryToken, query_tokens
from lamina.text.normal_form import normal_form, one_line
from lamina.text.time_windows import TimeWindows, find_time_windows, split_declared_today

MEMORY_TYPES_BY_MODE: dict[str, frozenset[MemoryType]] = {
    "facts_only": frozenset({MemoryType.FACT}),
    "facts_plus_rules": frozenset({MemoryType.FACT, MemoryType.PROCEDURE}),
    "full_context": frozenset(MemoryType),
}
QUESTION_LIMIT = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """A question with its filters. `at` is when it is asked, `view_time` the time at which the store is viewed.

    `assistant_prior` is added to the relevance of an assistant's turns. `filter_stale` leaves out stale and archived
    atoms. `layers` and `only_statuses` select atoms; None selects every layer, and the usual statuses. What the calling
    `agent` learnt ranks higher; with `learnt_only`, nothing else is searched.

    Raises InvalidInput for a question that is empty or too long, for an unknown mode or value of `include`, and if
    `include` is given beside statuses.
    """

    text: str
    scopes: tuple[Scope, ...]
    k: int
    mode: str
    include: tuple[str, ...]
    at: datetime
    fast: bool = False
    ranking: str = "full"
    assistant_prior: float = 0.0
    view_time: ViewTime = NOW
    filter_stale: bool = False
    agent: str | None = None
    learnt_only: bool = False
    layers: frozenset[Layer] | None = None
    only_statuses: frozenset[Status] | None = None

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise InvalidInput("the question is empty")
        if len(self.text.encode(errors="replace")) > QUESTION_LIMIT:
            raise InvalidInput(f"the question is longer than {QUESTION_LIMIT} bytes")
        if unknown := set(self.include) - INCLUDE_OPTIONS.keys():
            names = ", ".join(sorted(unknown))
            raise InvalidInput(f"cannot include {names}; choose from {', '.join(INCLUDE_OPTIONS)}")
        if self.include and self.only_statuses:
            raise InvalidInput("give either include, which adds statuses, or status, which names all of them")
        if self.mode not in MEMORY_TYPES_BY_MODE:
            raise InvalidInput(f"there is no mode {self.mode!r}; choose one of {', '.join(MEMORY_TYPES_BY_MODE)}")

    @property
    def memory_types(self) -> frozenset[MemoryType]:
        """The memory types that the mode lets through."""
        return MEMORY_TYPES_BY_MODE[self.mode]

    @property
    def learnt_by(self) -> str | None:
        """The agent whose atoms alone are searched; None for all atoms."""
        return self.agent if self.learnt_only else None

    @property
    def statuses(self) -> frozenset[Status]:
        """The statuses to search: those that were named, or the usual ones and those that `include` adds."""
        if self.only_statuses is not None:
            return self.only_statuses
        return frozenset(RECALL_WEIGHT).union(*(INCLUDE_OPTIONS[name] for name in self.include))

    @property
    def includes_history(self) -> bool:
        """Return whether ended statements are requested."""
        return "history" in self.include or not ENDED.isdisjoint(self.only_statuses or ())

    def selects(self, atom: Atom) -> bool:
        """Return whether an atom is of a type of the mode and in one of the layers."""
        return atom.memory_type in self.memory_types and (self.layers is None or atom.layer in self.layers)

    def admits(self, view: RecallView, atom: Atom) -> bool:
        """Return whether an atom may answer, as it was at the time of the view."""
        if self.only_statuses is not None and view.is_as_of:
            return self.selects(atom) and is_listed(view, atom, self.only_statuses)
        return self.selects(atom) and is_admitted(view, atom, self.statuses)


class QuestionShape(StrEnum):
    """The kind of answer that a question expects."""

    COUNT = "count"
    RECOMMENDATION = "recommendation"
    TEMPORAL = "temporal"
    PREFERENCE = "preference"
    FACTUAL = "factual"


@dataclass(frozen=True, slots=True)
class RecallQuery:
    """A parsed question, without the words that only give today's date."""

    text: str
    query_tokens: tuple[QueryToken, ...]
    speakers: tuple[str, ...]
    text_without_names: str
    """The question without the names of speakers; this is what is embedded."""
    time_windows: TimeWindows
    asks_assistant: bool
    """Whether the question asks for something the assistant said."""
    shape: QuestionShape
    is_about_past: bool
    """Whether the question asks how things were."""
    is_small_talk: bool
    """Whether the text is only a greeting or acknowledgement, so that there is nothing to recall."""

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens that the text channel searches for."""
        return tuple(query_token.token for query_token in self.query_tokens)


def parse_question(question: str, speakers: Collection[str], now: datetime) -> RecallQuery:
    """Parse a question, given the stored speakers and the current time."""
    question, now = split_declared_today(question, now)
    names = find_speakers(question, speakers)
    text_without_names = remove_speakers(question, names)
    plain = one_line(question.replace("’", "'")).lower()
    asks_assistant = _asks_assistant(plain)
    return RecallQuery(
        text=question,
        query_tokens=tuple(query_tokens(question)),
        speakers=names,
        text_without_names=text_without_names,
        time_windows=find_time_windows(question, now),
        asks_assistant=asks_assistant,
        shape=_classify_shape(plain, asks_assistant),
        is_about_past=_is_about_past(plain),
        is_small_talk=_is_small_talk(text_without_names),
    )


_SAY_FORMS = (
    "say|tell|suggest|recommend|mention|provide|give|list|explain|describe|write|create|show|advise|propose|share|"
    "offer|outline|come up with|call|name|answer|draft|generate|point|refer|quote|cite|pick"
)
_SAY_PAST_FORMS = (
    "said|told|suggested|recommended|mentioned|provided|gave|given|listed|explained|described|wrote|written|created|"
    "showed|shown|advised|proposed|shared|offered|outlined|came up with|called|named|answered|drafted|generated|"
    "pointed|referred|quoted|cited|picked|made|sent|taught|summarized|summarised|laid out|walked me"
)
_ADVERB = r"(?: (?:just|also|already|once|both|even|only|first|last|then|had|have|kindly|earlier|recently|\w{2,12}ly))"
_TALK = r"(?:chat|conversation|discussion|session|exchange|talk)s?"
_EARLIER = r"(?:previous|last|earlier|past|prior)"
_GIVEN_ANSWER = (
    r"(?:suggestion|recommendation|advice|answer|reply|response|explanation|list|proposal|tip|summary|message)s?"
)

_ASSISTANT_SPOKE = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\byou(?:'d|'ve)?{_ADVERB}{{0,2}} (?:{_SAY_PAST_FORMS})\b",
        r"\byou (?:were|was)(?: just)? (?:saying|referring|talking|suggesting|recommending|telling|describing)\b",
        rf"\b(?:did|didn't)(?: not)? you{_ADVERB}? (?:{_SAY_FORMS})\b",
        rf"\b(?:have|haven't|had) you{_ADVERB}? (?:{_SAY_PAST_FORMS})\b",
        r"\bremind me\b(?! (?:to|in|at|on|every|tomorrow|tonight|later|before|next|daily|weekly)\b)",
        rf"\b(?:our|the|this|that|in|a|your) {_EARLIER} {_TALK}\b(?! (?:with|between) (?!you\b))",
        rf"\b{_EARLIER} {_TALK} (?:with you|between us)\b",
        rf"\byour {_EARLIER} {_GIVEN_ANSWER}\b",
        r"\b(?:the|an?|my) ai assistant\b",
        r"\bthe assistant\b(?! (?:manager|coach|professor|director|editor|teacher|principal|chef|producer|to|at|of)\b)",
    )
)
_YOUR_ANSWER = re.compile(rf"(?:\b([\w']+) )?\byour (?:[\w-]+ )?{_GIVEN_ANSWER}\b")
_REQUEST_WORDS = frozenset(
    {"is", "are", "what's", "me", "share", "need", "want", "like", "get", "have", "hear", "love"}
)


def _asks_assistant(plain: str) -> bool:
    """Return whether a question in lower case refers to something the assistant said."""
    if any(pattern.search(plain) for pattern in _ASSISTANT_SPOKE):
        return True
    return any(match[1] not in _REQUEST_WORDS for match in _YOUR_ANSWER.finditer(plain))


_TIME_UNIT = r"(?:days?|weeks?|months?|years?|hours?|minutes?|time)"
_TEMPORAL = re.compile(
    r"\bwhen (?:did|do|does|is|was|were|are|am|will|would|have|has|had|should|can)\b|^when\b|\bsince when\b"
    r"|\bhow long\b|\bhow old\b|\b(?:what|which) (?:\w+ )?(?:date|day|month|year|week|weekday|time)\b"
    rf"|\bhow many {_TIME_UNIT} (?:ago|passed|have passed|had passed|between|before|after|since|until|did it take)\b"
    rf"|\bhow (?:many|much) {_TIME_UNIT}\b[^?.!]{0, 160}\b(?:between|since|until|passed|ago)\b"
    r"|\b(?:in what|what is the|the) (?:chronological )?order (?:of|in which|from)\b|\bin (?:chronological )?order\b"
    r"|\b(?:happened|came|started|did i \w+|did we \w+) first\b|\b(?:earliest|latest|most recently|how recently)\b"
)
_COUNT = re.compile(
    r"\bhow (?:many|much|often)\b|\b(?:total|overall) (?:number|amount|cost|price|sum|count)\b|\bin total\b"
    r"|\b(?:number|count) of\b|^count\b"
)
_RECOMMENDATION = re.compile(
    r"\b(?:recommend|suggest)\b|\b(?:recommendation|suggestion|tip|idea|advice)s? (?:for|on|about|to)\b"
    r"|\bany (?:\w+ )?(?:recommendation|suggestion|tip|idea|advice)s?\b|\b(?:should|shall) (?:i|we)\b"
    r"|\bwhat would you\b|\bdo you think\b|\bhelp me (?:\w+ )?(?:pick|choose|find|plan|decide)\b"
)
_PREFERENCE = re.compile(
    r"\b(?:favou?rites?|prefer|prefers|preferred|preferences?|dislikes?|hates?|enjoys?|adores?)\b"
    r"|\b(?:do|does) (?:[\w'-]+ ){1,3}?(?:like|love|want)\b"
    r"|\blikes (?:to|best|most|more)\b|\b(?:like|love) (?:best|most)\b"
)


_RECOMMENDED = re.compile(r"\b(?:did|didn't) [^?.!]{0,80}?\b(?:recommend|suggest)\b")


def _classify_shape(plain: str, asks_assistant: bool) -> QuestionShape:
    """Return the kind of answer that a question in lower case expects."""
    if _TEMPORAL.search(plain):
        return QuestionShape.TEMPORAL
    if _COUNT.search(plain):
        return QuestionShape.COUNT
    asks_for_past_advice = asks_assistant or _RECOMMENDED.search(plain)
    if not asks_for_past_advice and _RECOMMENDATION.search(plain):
        return QuestionShape.RECOMMENDATION
    return QuestionShape.PREFERENCE if _PREFERENCE.search(plain) else QuestionShape.FACTUAL


_FORMERLY = re.compile(
    r"\bdid(?:n't)? (?:[\w'-]+ ){1,3}?use to (?:be|live|have|like|love|work|go|hate|think|play)\b"
    r"|\b(?:previously|originally|formerly|initially|back then|at first|in the past(?=[?.!,;]|$)|former|original)\b"
    rf"|\bprevious (?!{_TALK}\b|messages?\b|answers?\b|questions?\b|one\b|{_TIME_UNIT}\b)\w"
)
_USED_TO = re.compile(r"((?:[\w']+ ){0,4})\bused to\b")
_IS_USED = re.compile(r"\b(?:is|are|am|was|were|be|been|get|gets|got|getting|have|has|had|\w+'(?:s|re|m|ve)) ")
_PAST_VERB = re.compile(r"\b(?:did|was|were|had|been|went|used)\b")
_BEFORE = re.compile(
    r"(?<!\bday )(?<!\bdays )(?<!\bweek )(?<!\bweeks )(?<!\bmonth )(?<!\bmonths )(?<!\byear )(?<!\byears )"
    r"(?<!\bnight )(?<!\bweekend )(?<!\blong )(?<!\bhours )\bbefore\b"
    r"(?! (?:[0-9]|the [0-9]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun))"
)


def _is_about_past(plain: str) -> bool:
    """Return whether a question in lower case asks how things were."""
    if _FORMERLY.search(plain) or any(not _IS_USED.search(match[1]) for match in _USED_TO.finditer(plain)):
        return True
    return bool(_BEFORE.search(plain) and _PAST_VERB.search(plain)) and not plain.startswith(("how many ", "how long "))


_ACKNOWLEDGEMENT_LIST = """
    ok|okay|okey|k|kk|thanks|thank you|thx|ty|cheers|hi|hello|hey|hiya|yo|greetings|good morning|good afternoon
    good evening|good night|bye|goodbye|good bye|see you|see ya|later|cool|great|nice|awesome|perfect|excellent|sure
    yes|yeah|yep|yup|no|nope|nah|alright|all right|fine|right|got it|sounds good|no problem|np|never mind|nevermind
    lol|haha|hmm|hm|oh|ah|wow|sorry|welcome|you re welcome|so much|very much|a lot|again|there|that s great|that s all
    good|makes sense|understood|i see|will do|please|go on|continue|done|agreed|exactly|indeed|everyone|all|for now
    danke|merci|gracias|hola|hallo|bonjour|ciao|ja|nein|si|oui|non|谢谢|你好|好的|ありがとう|はい
"""
_ACKNOWLEDGEMENTS = frozenset(
    one_line(_ACKNOWLEDGEMENT_LIST.replace("\n", "|").replace("  ", "")).strip("| ").split("|")
)
_MAX_PHRASE_WORDS = 3
_MAX_SMALL_TALK_WORDS = 8


def _is_small_talk(text: str) -> bool:
    """Return whether a text consists of greetings and acknowledgements only."""
    words = normal_form(text).split()
    if not words:
        return not query_tokens(text)
    if len(words) > _MAX_SMALL_TALK_WORDS:
        return False
    at = 0
    while at < len(words):
        for length in range(_MAX_PHRASE_WORDS, 0, -1):
            if " ".join(words[at : at + length]) in _ACKNOWLEDGEMENTS:
                at += length
                break
        else:
            return False
    return True
