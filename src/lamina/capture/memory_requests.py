"""Requests to the memory: to remember a sentence, to forget something, or not to store it.

The state model recognises requests to forget in ordinary words. A short list of direct orders is recognised without it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lamina.atom.kinds import EXTRACTED_KINDS
from lamina.capture.prose import find_fenced_code, is_in_code, is_pasted, is_question
from lamina.models.state_model import SentenceState
from lamina.text.sentences import find_sentences

MAX_SENTENCE_CHARS = 400
"""Longer sentences are not taken for requests."""


class RequestKind(StrEnum):
    """A kind of request: to forget what was said earlier, or not to store what is being said.

    A secret is not stored either, although no one asks.
    """

    FORGET = "forget"
    KEEP_OUT = "keep out"
    SECRET = "secret"


_KIND_LABEL = re.compile(
    rf"(?:[-*•]\s+)?({'|'.join(kind.replace('_', '[ _]') for kind in EXTRACTED_KINDS)})\s*:\s+", re.IGNORECASE
)
MIN_PROBABILITY = {RequestKind.FORGET: 0.9, RequestKind.KEEP_OUT: 0.9, RequestKind.SECRET: 0.75}
"""The least probabilities at which the model is believed; more than nine of ten are right on unseen turns."""
MIN_PROBABILITY_LIGHT = dict.fromkeys(RequestKind, 0.95)
"""The same for the light model."""


@dataclass(frozen=True, slots=True)
class ForgetRequest:
    """A sentence that asks, as characters of its turn, and the words that name the target.

    Without a `topic`, the target is what was said just before. `is_about_speaker`: it is about the speaker;
    `is_everything`: it covers all statements on the topic, except those on `exception_topic`.
    """

    kind: RequestKind
    start: int
    end: int
    topic: str
    is_about_speaker: bool = False
    is_everything: bool = False
    exception_topic: str = ""


def find_remember_requests(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences that a text asks to remember.

    The asking words are not part of them, and questions are left out.
    """
    ends = [end for _, end in find_sentences(text)]
    starts = [match.end() for match in _REMEMBER_REQUEST.finditer(text)]
    spans = [(start, ends[index]) for start in starts if (index := bisect_right(ends, start)) < len(ends)]
    return [(start, end) for start, end in spans if not text[start:end].rstrip().endswith(("?", "？"))]


def find_labelled_statements(text: str) -> dict[int, tuple[int, str]]:
    """Return the sentences that begin with the name of a kind, such as "Preference: tea, not coffee."

    For each, by its end: where its words begin after the label, and the kind.
    """
    labelled: dict[int, tuple[int, str]] = {}
    if is_pasted(text):
        return labelled
    code = find_fenced_code(text)
    for start, end in find_sentences(text):
        match = _KIND_LABEL.match(text, start, end)
        if match is not None and not is_in_code(start, start + 1, code) and text[match.end() : end].strip():
            labelled[end] = match.end(), match[1].lower().replace(" ", "_")
    return labelled


def find_forget_requests(
    text: str, states: Sequence[SentenceState] = (), min_probability: Mapping[RequestKind, float] = MIN_PROBABILITY
) -> list[ForgetRequest]:
    """Return the requests of a turn, in order.

    `states` are the state model's readings of its sentences, `min_probability` the least probabilities at which it is
    believed.
    """
    by_place = {state.start: state for state in states}
    code = find_fenced_code(text)
    requests: list[ForgetRequest] = []
    for start, end in find_sentences(text):
        sentence = text[start:end]
        if len(sentence) > MAX_SENTENCE_CHARS or is_in_code(start, start + 1, code) or _NOT_SPEECH.match(sentence):
            continue
        kind = _classify_sentence(sentence, by_place.get(start), min_probability)
        if kind is RequestKind.SECRET:
            requests.append(ForgetRequest(kind, start, end, ""))
        elif kind is not None:
            about, _, spared = _EXCEPT.sub("\0", sentence, count=1).partition("\0")
            for topic, part in [] if _EVERYTHING_ABOUT_ME.search(about) else _find_topics(about):
                is_about_speaker, is_everything = _OWN.search(part) is not None, _ALL.search(part) is not None
                requests.append(
                    ForgetRequest(kind, start, end, topic, is_about_speaker, is_everything, _find_topics(spared)[0][0])
                )
    return requests


def may_contain_request(text: str) -> bool:
    """Return whether a turn contains a word that such requests commonly have. Fast, with many false positives."""
    return _CUE.search(text) is not None


def is_direct_order(sentence: str) -> bool:
    """Return whether a sentence is one of the direct orders that are recognised without the model."""
    return _classify_direct_order(sentence) is not None


def _classify_sentence(
    sentence: str, state: SentenceState | None, min_probability: Mapping[RequestKind, float]
) -> RequestKind | None:
    order_kind = _classify_direct_order(sentence)
    if order_kind is not None or state is None:
        return order_kind
    probabilities = {
        RequestKind.FORGET: state.forget,
        RequestKind.KEEP_OUT: state.keep_out,
        RequestKind.SECRET: state.secret,
    }
    kind = max(probabilities, key=lambda request_kind: probabilities[request_kind])
    if probabilities[kind] < min_probability[kind] or (
        is_question(sentence) and not _ASKS_POLITELY.search(_straighten_apostrophes(sentence))
    ):
        return None
    return kind


def _classify_direct_order(sentence: str) -> RequestKind | None:
    plain = _straighten_apostrophes(sentence)
    if _NOT_AN_ORDER.search(plain):
        return None
    if _KEEP_OUT_ORDER.search(plain):
        return RequestKind.KEEP_OUT
    return RequestKind.FORGET if _FORGET_ORDER.search(plain) else None


def _straighten_apostrophes(sentence: str) -> str:
    return sentence.replace("’", "'")


def _find_topics(sentence: str) -> list[tuple[str, str]]:
    """Return the words that name the target, each topic with the part of the sentence it is in.

    If only a pronoun names it, the result is one empty topic with the whole sentence.
    """
    topics: list[tuple[str, str]] = []
    for part in _PART.split(_straighten_apostrophes(sentence)):
        words = [word for word in _WORD.findall(part) if word.lower().removesuffix("'s") not in _STOP_WORDS]
        if words and (not topics or _AND.match(part)):
            topics.append((" ".join(words), part))
    return topics or [("", sentence)]


_REMEMBER_REQUEST = re.compile(
    r"(?:^|(?<=[.!?…])\s{1,20}+|(?<=\n)[^\S\n]{0,20}+)"
    r"(?:please |pls )?"
    r"(?:remember(?: that|:| this:)|note that|note to self:|for the record[,:]|keep in mind(?: that|:))\s+",
    re.IGNORECASE,
)
_NOT_SPEECH = re.compile(r"\s*(?:>|\||#|\[|<|```)")
_CUE = re.compile(
    r"\b(?:forget|erase|delete|remove|wipe|scrub|unlearn|scratch|strike|drop|ignore|disregard|never mind|nevermind|"
    r"off the record|between (?:us|you and me)|(?:save|saving|store|storing|remember|remembering|keep|keeping|record|"
    r"note|log|write|hold) (?:this|that|it|any|what|my|onto)|private|secret|confidential|said nothing|never said)\b",
    re.IGNORECASE,
)
_ASKS_POLITELY = re.compile(r"\b(?:can|could|would|will|may|might) (?:you|u|we|i)\b|\bplease\b|\bpls\b", re.IGNORECASE)
_MEMORY = r"(?:memory|memories|notes?|records?|profile|files?|database|storage|books)"
_YOURS = rf"(?:(?:your|the) {_MEMORY}|memory|(?:on|off the|the) (?:file|record))\b"
_ERASE = (
    r"(?:forget|erase|delete|remove|wip(?:e|ing)|scrub|purge|expunge|drop|strike|scratch|scrap|clear|los(?:e|ing)|blot|"
    r"discard|disregard|get rid of|unlearn|un-?remember|unsave|omit)"
)
_GONE = r"(?:forgotten|erased|deleted|removed|wiped|scrubbed|purged|gone|disappear|vanish|struck|slip)"
_HOLD = r"(?:remember(?:ing)?|stor(?:e|ing)|keep(?:ing)?|kept|retain(?:ing)?|sav(?:e|ing)|h(?:old(?:ing)?|ang) on ?to)"
_NOT = r"(?:don't|do not|dont|never|didn't|no need to|needn't|shouldn't|no longer|not to|stop|quit|refrain from)"
_ASKING = (
    r"(?:\A\W*|[,:;?–—]\s*|\b(?:please|pls|plz|kindly|just|you|you to|you could|you can|you may|you should|so|ok|okay|"
    r"hey|sorry|go ahead and|favour and|time to|wait|no|actually)[\s,]+)"
)
_MINE = (
    r"(?:about )?(?:my|our|what (?:i|we|you)|where (?:i|we)|that (?:i|we|my)|i ever|everything|anything|whatever|him|"
    r"her|them|the (?:fact|thing|bit|part|stuff)|(?:the|that) [^.!?]{1,60}\bi (?:gave|told|said|mentioned))\b"
)
_NOT_AN_ORDER = re.compile(
    r"\A\W*(?:if|should|do|did|does|why|how|what|when|have|who|is|are) (?:i|you|we|he|she|they|people|happens)\b"
    r"|\A\W*(?:write|translate|say|imagine|in my (?:novel|story|dream))\b|\bguest list\b"
    r"|\b(?:previous|prior|above) (?:instructions|prompts?)\b"
    r"|\A\W*(?:i|we) (?:can|could|get to|like to|love to)\b"
    r"|\b(?:nobody|no one) wants\b|\b(?:don't|do not|never|won't|not|let me) (?:let me )?(?:forget|delete)\b",
    re.IGNORECASE,
)
"""Questions about forgetting, orders not to forget, and attempts to override instructions."""
_FORGET_ORDER = re.compile(
    rf"{_ASKING}(?:forget|erase|unlearn|un-?remember|unsave|expunge) {_MINE}"
    r"|\b(?:please|pls|kindly)\b[^.!?]{0,20}\b(?:forget|erase) (?:about )?(?:the|that|this|(?-i:[A-Z]))"
    r"|\A\W*forget that\W*\Z|\bforget (?:it|that|him|her|them),? (?:please|pls)\b"
    rf"|\b{_ERASE}\b[^.!?]{{1,80}}\b(?:from|off|out of) {_YOURS}"
    rf"|\b(?:keep|leave|take|get|kick|want)\b[^.!?]{{1,60}}\b(?:out of|off) {_YOURS}"
    rf"|\b{_GONE}\b[^.!?]{{0,20}}\b(?:from|out of) {_YOURS}"
    rf"|{_ASKING}{_ERASE} (?:what|everything|anything|whatever|the (?:thing|bit|part))\b[^.!?]{{0,60}}"
    r"\b(?:i (?:said|told|shared|mentioned|gave)|you (?:know|remember|have|stored|saved))\b"
    rf"|{_ASKING}{_NOT} (?:want )?(?:you )?(?:to )?(?:have to |need to )?{_HOLD} (?:my|our|what i|anything about)\b"
    r"|\b(?:pretend|act as if) (?:i|we)(?: had)? never (?:said|told|mentioned|gave)\b"
    rf"|\bmy\b[^.!?]{{1,40}}\b(?:should|must|has to|needs to)(?: not)? be {_GONE}\b",
    re.IGNORECASE,
)
_KEEP_OUT_ORDER = re.compile(
    rf"{_ASKING}(?:don't|do not|dont|never) (?:save|store|remember|keep|record|log|note|memori[sz]e|retain|write)"
    r"(?: down)? (?:this|that|it|any of (?:this|that|it)|the following)(?: down)?"
    r"\s*(?:[.!,:;–—-]|\Z|please|pls|anywhere|ok)"
    r"|\b(?:this|that|it)(?:'s| is| was|, )? ?(?:strictly )?(?:off|not for) the record\b|\A\W*off the record\b"
    rf"|\bkeep (?:this|that|it) (?:to yourself|between (?:us|you and me)|out of {_YOURS})"
    r"|\b(?:stays?|strictly|just|remains?) between (?:us|you and me|the two of us|ourselves)\b",
    re.IGNORECASE,
)
_EVERYTHING_ABOUT_ME = re.compile(
    r"\b(?:everything|anything|all)\b[^.!?]{0,30}\b(?:about|on|of) (?:me|us|myself)\b", re.IGNORECASE
)
"""One sentence does not delete everything about a user."""
_EXCEPT = re.compile(r"\b(?:except(?: for)?|but not|apart from|other than)\b", re.IGNORECASE)
_AND = re.compile(r"\s*(?:and|plus|as well as|also)\b", re.IGNORECASE)
_OWN = re.compile(r"\b(?:my|our|mine|i|i'[a-z]+|we)\b", re.IGNORECASE)
_ALL = re.compile(r"\b(?:everything|anything|all|whatever|any of|both|entire|whole)\b", re.IGNORECASE)
_PART = re.compile(
    r"[,;:–—(]|\b(?:because|since|cause|cos|so that|in case|now that|as (?:i|it|we|she|he|they|that))\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_]+(?:['._@+/-][^\W_]+)*")
_REQUEST_WORDS = """
    forget forgot forgotten forgetting unlearn unremember erase erased delete deleted wipe wiped scrub scrubbed purge
    remove removed strike struck drop dropped scratch scratched clear discard disregard ignore keep keeping kept leave
    take get rid lose let stop quit avoid pretend act stay stays remain go come put out away off never mind nevermind
    memory memories notes note record records recorded file files profile log logs database storage knowledge head mind
    system remember remembering remembered memorise memorize retain store stored storing hold save saved saving recall
    know knows known learned heard mention mentioned told tell telling said say saying gave give given shared share
    talked talk spoke speak discussed wrote write written down bring brought up
    please pls plz kindly thanks thank thx sorry ok okay hey hi hello oh yes yeah no right wait um btw like want need
    wish rather prefer love appreciate would could can will should may might must sure fine time possible ask asking
    favour favor dear chance kind actually really simply just also maybe perhaps well good great better best able
    allowed supposed
    thing things stuff anything everything something nothing whatever bit part fact subject topic matter ever again any
    all whole entire both last earlier previously before today now ago already still recently
    reason reasons privacy
    private privately personal sensitive secret confidential between us yourself anyone anybody nobody else someone
    a an the this that these those it its i i'm i've i'd i'll me my mine we we're we've our ours us you you're you've
    you'd your yours u ur he she they them their his her him what which who whom when where why how there here
    is are was were am be been being do does did don't dont doesn't didn't has have had not and or but if so than
    of at by for with from about into onto to in on over regarding concerning as second thought thoughts
"""
_STOP_WORDS = frozenset(_REQUEST_WORDS.split())
"""Words of a request that never name its target."""
