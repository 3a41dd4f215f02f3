"""The words that are a person's own: what recall returned, and what an agent says about its memory, is left out.

Stored, it would confirm itself. Our context is enclosed in `<memories>` and `</memories>`, begins with one of our
headings and has one item per line; hosts wrap it, escape it, cut off either end or change the spaces, and agents quote
single items. Text that only mentions the tag is left alone."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from lamina.atom.kinds import kind_traits
from lamina.atom.provenance import Origin
from lamina.atom.status import Status
from lamina.errors import InvalidInput
from lamina.text.analyser import analyse
from lamina.text.normal_form import normal_form
from lamina.text.sentences import find_sentences

TextSpan = tuple[int, int]


@dataclass(frozen=True, slots=True)
class ContextFreeText:
    """Text without recalled context, and the number of blocks that were removed."""

    text: str
    removed_blocks: int = 0


def remove_recalled_context(text: str) -> ContextFreeText:
    """Return the text with every block of recalled context removed; the rest is unchanged."""
    if "]" not in text and "memories" not in text.lower():
        return ContextFreeText(text)
    blocks = _merge_spans(_find_blocks(text))
    wrapped_blocks = [_extend_to_wrapper(text, *span) for span in blocks]
    spans = _merge_spans(
        _extend_to_line_end(text, *span)
        for span in [*wrapped_blocks, *_find_items(text), *_find_leading_fragment(text)]
    )
    return ContextFreeText(_remove_spans(text, spans), len(spans))


def require_own_words(text: str) -> str:
    """Return the text of a statement without recalled context; InvalidInput if nothing is left."""
    cleaned = remove_recalled_context(text)
    if not cleaned.removed_blocks:
        return text
    if not cleaned.text.strip():
        raise InvalidInput("there are no words to remember besides recalled context")
    return cleaned.text.strip()


def describe_removal(removed_blocks: int) -> str:
    """Return one line for a receipt."""
    return f"{removed_blocks} {'block' if removed_blocks == 1 else 'blocks'} of recalled context removed"


def _find_blocks(text: str) -> Iterator[TextSpan]:
    """Yield the span of every block, from the opening to the closing tag.

    A block without an end extends over the lines that are in our format.
    """
    open_starts: list[int] = []
    for tag in _TAG.finditer(text):
        if tag["open"]:
            open_starts.append(tag.start())
        elif open_starts:
            yield open_starts.pop(), tag.end()
        else:
            yield from _find_torn_block(text, tag)
    end = 0
    for start in open_starts:
        match = _CUT_SHORT.match(text, start) if start >= end else None
        if match is not None:
            end = match.end()
            yield match.span()


def _find_items(text: str) -> Iterator[TextSpan]:
    """Yield the spans of single items, to the end of the line, and of whole sections that contain one."""
    for section in _SECTIONS.finditer(text):
        if _ITEM.search(text, *section.span()):
            yield section.span()
    yield from (match.span() for match in _ITEM.finditer(text))


def _find_leading_fragment(text: str) -> Iterator[TextSpan]:
    """Yield the first line of a text if it is the rest of an item whose beginning is missing."""
    match = _REST_OF_ITEM.match(text)
    if match is not None:
        yield match.span()


def _find_torn_block(text: str, close: re.Match[str]) -> Iterator[TextSpan]:
    """Yield the end of a block whose beginning is missing: the tag and the lines of ours before it."""
    start = close.start()
    while start > 0 and text[start - 1] == "\n":
        line = text.rfind("\n", 0, start - 1) + 1
        if not _LINE.match(text, line, start):
            break
        start = line
    if start < close.start():
        yield start, close.end()


def _extend_to_wrapper(text: str, start: int, end: int) -> TextSpan:
    """Return the span extended by the reminder tags or the header line that a host put around it."""
    wrapper_start = text.rfind(_REMINDER, max(0, start - _MAX_WRAPPER_CHARS), start)
    wrapper_end = text.find(_REMINDER_END, end, end + _MAX_WRAPPER_CHARS)
    is_wrapped = wrapper_start >= 0 and wrapper_end >= 0 and text.find(_REMINDER_END, wrapper_start, start) < 0
    if is_wrapped and text.find(_REMINDER, end, wrapper_end) < 0:
        return wrapper_start, wrapper_end + len(_REMINDER_END)
    line_start = max(text.rfind("\n", max(0, start - _MAX_WRAPPER_CHARS), start) + 1, start - _MAX_WRAPPER_CHARS, 0)
    return (line_start if _HOOK_HEADER.fullmatch(text, line_start, start) else start), end


def _extend_to_line_end(text: str, start: int, end: int) -> TextSpan:
    """Return the span extended by the line end after it, if it begins a line, so that no empty line is left."""
    line_end = _LINE_END.match(text, end) if start == 0 or text[start - 1] == "\n" else None
    return start, line_end.end() if line_end else end


def _merge_spans(spans: Iterable[TextSpan]) -> list[TextSpan]:
    """Return the spans in order, overlapping ones merged."""
    merged: list[TextSpan] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _remove_spans(text: str, spans: Iterable[TextSpan]) -> str:
    parts, at = [], 0
    for start, end in spans:
        parts.append(text[at:start])
        at = end
    return "".join([*parts, text[at:]])


_BLANK = r"[^\S\n]"
"""Any space but a line end: hosts write other spaces than we do."""
_LESS = rf"(?:[<＜﹤‹]|&(?:amp;)?(?:lt|\#0*60|\#x0*3c);|\\{{1,4}}u003c|\\{{1,4}}x3c){_BLANK}{{0,2}}"
_MORE = rf"{_BLANK}{{0,2}}(?:[>＞﹥›]|&(?:amp;)?(?:gt|\#0*62|\#x0*3e);|\\{{1,4}}u003e|\\{{1,4}}x3e)"
_BREAK = r"(?:\r?\n|\\{1,4}n|<br\ ?/?>)"
_GAP = r"(?:\s|\\{1,4}[nrt]|[>|]|&gt;|<br\ ?/?>)*"
"""Between two of our lines: spaces, line ends even if escaped, and quotation marks of mail."""
_SECTION = rf"\#\#{_BLANK}+(?:core|workstream|profile|rules|facts|evidence|disputed)\b"
_EMPTY = rf"nothing{_BLANK}known|something{_BLANK}is{_BLANK}known,{_BLANK}but"
_REST = rf"(?:(?!{_BREAK})[^\n])*"
_OPEN = rf"{_LESS}memories{_MORE}(?={_GAP}(?:{_SECTION}|{_EMPTY}|{_LESS}\\{{0,4}}/{_BLANK}?memories))"
_CLOSE = rf"{_LESS}\\{{0,4}}/{_BLANK}?memories{_MORE}"
_LISTED = rf"-{_BLANK}+\[(?![\ xX]\])[^\]\n]*\](?!\()"
"""An item, and neither a checkbox nor a link."""
_CONTEXT_LINE = rf"(?:{_SECTION}|{_EMPTY}|{_LISTED}){_REST}"
_DAY = r"\d{4}-\d\d-\d\d"
_HEAD = (
    rf"\[[0-7][0-9a-hjkmnp-tv-z]{{25}}{_BLANK}+(?:{'|'.join(Origin)}){_BLANK}+(?:{'|'.join(Status)}){_BLANK}+{_DAY}"
    r"[^\]\n]*\]"
)
"""The id, origin, status and day before an item, which no person writes."""
_FLAGS = re.IGNORECASE | re.VERBOSE
_TAG = re.compile(rf"(?P<open>{_OPEN})|{_CLOSE}", _FLAGS)
_CUT_SHORT = re.compile(rf"{_LESS}memories{_MORE}(?:{_GAP}{_CONTEXT_LINE})*", _FLAGS)
_LINE = re.compile(rf"[\ \t>|]*(?:{_CONTEXT_LINE})\s*", _FLAGS)
_ITEM = re.compile(
    rf"(?:^[\ \t>|]*)?[\"'*_`]{{0,4}}(?:(?:[-*+•]|\d{{1,3}}[.)]){_BLANK}{{1,4}})?[\"'*_`]{{0,4}}{_HEAD}{_REST}",
    _FLAGS | re.MULTILINE,
)
_SECTIONS = re.compile(rf"(?:^[\ \t>|]*{_SECTION}[^\n]*(?:\n[\ \t>|]*{_LISTED}[^\n]*)*\n?)+", _FLAGS | re.MULTILINE)
_REST_OF_ITEM = re.compile(
    rf"(?:…|\.\.\.)?[^\n\[\]]{{0,200}}(?:{_DAY}(?:;[^\n\[\]]*)?\]{_REST}"
    rf"|\][^\n]*\n(?=[\ \t>|]*(?:{_CONTEXT_LINE}|{_CLOSE})))"
    rf"|{_BLANK}?\[[^\n\[\]]*\][^\n]*\n(?={_CLOSE})"
    rf"|(?:…|\.\.\.)[^\n]*\n(?=[\ \t>|]*(?:{_SECTION}|-{_BLANK}+{_HEAD}|{_CLOSE}))",
    _FLAGS,
)
_REMINDER, _REMINDER_END = "<system-reminder>", "</system-reminder>"
_HOOK_HEADER = re.compile(
    r"[ \t]*(?:\w+(?::\w+)? hook (?:success|(?:additional )?context|output|feedback)[^:\n]*:)[ \t]*"
)
_LINE_END = re.compile(r"\r?\n")
_MAX_WRAPPER_CHARS = 4_000
"""The most characters of the text that a host puts around a block."""


BASE_IMPORTANCE = 0.5
TRIVIAL_IMPORTANCE = 0.1
CRITICAL_BOOST, HIGH_BOOST, HEDGED_PENALTY, FIRST_PERSON_BOOST, SPECIFIC_BOOST, MAX_LENGTH_BOOST = (
    0.20,
    0.12,
    -0.15,
    0.05,
    0.03,
    0.10,
)
SHINGLE_WORDS = 5
ECHO_SHARE = 0.8


def score_importance(text: str, kind: str) -> float:
    """Return the importance of a statement, from 0 to 1, by its words and its kind."""
    if is_trivial(text):
        return TRIVIAL_IMPORTANCE
    words = text[:_SCANNED_CHARS].lower().replace("’", "'")
    signals = (
        (_CRITICAL, CRITICAL_BOOST),
        (_IMPORTANT, HIGH_BOOST),
        (_HEDGED, HEDGED_PENALTY),
        (_FIRST_PERSON, FIRST_PERSON_BOOST),
    )
    score = BASE_IMPORTANCE + kind_traits(kind).importance_boost + min(max(len(text) - 200, 0) / 1000, MAX_LENGTH_BOOST)
    score += sum(amount for pattern, amount in (*signals, (_SPECIFIC, SPECIFIC_BOOST)) if pattern.search(words))
    return round(min(1.0, max(0.0, score)), 2)


def is_trivial(text: str) -> bool:
    """Return whether a text is nothing but greetings and acknowledgements, or has no word."""
    words = normal_form(text).split()
    return len(words) <= _MAX_GREETING_WORDS and all(word in _GREETINGS for word in words)


def is_memory_talk(text: str) -> bool:
    """Return whether a text is mostly an agent's talk about its memory, a tool call or a prompt."""
    text = text.replace("’", "'")
    if _MACHINE_TEXT.search(text[:_OPENING_CHARS]):
        return True
    spans = find_sentences(text)
    talk = sum(end - start for start, end in spans if _MEMORY_TALK.search(text, start, end))
    return talk > 0 and 2 * talk >= sum(end - start for start, end in spans)


def is_echo(text: str, recalled: Collection[str]) -> bool:
    """Return whether a text only repeats recalled statements: the same words, or four fifths of its word sequences."""
    cleaned = remove_recalled_context(text).text
    tokens = analyse(cleaned)
    if not tokens:
        return cleaned != text
    recalled_tokens = [analyse(text_shown) for text_shown in recalled]
    if tokens in recalled_tokens:
        return True
    shingles = _shingles(tokens)
    recalled_shingles = {run for statement_tokens in recalled_tokens for run in _shingles(statement_tokens)}
    return bool(shingles) and sum(run in recalled_shingles for run in shingles) >= ECHO_SHARE * len(shingles)


def _shingles(tokens: list[str]) -> list[tuple[str, ...]]:
    return [tuple(tokens[at : at + SHINGLE_WORDS]) for at in range(len(tokens) - SHINGLE_WORDS + 1)]


_SCANNED_CHARS = 4000
"""How many characters are searched for signals; a longer statement scores by its length."""
_MAX_GREETING_WORDS = 8
_SMALL_TALK = """
    hi hello hey hiya yo howdy greetings morning afternoon evening night good bye goodbye cya see you later soon
    tomorrow thanks thank thx ty cheers so much lot very many ok okay k kk yes yeah yep yup ya no nope nah sure fine
    great nice cool awesome perfect excellent lovely wonderful amazing alright right got it understood noted sounds
    does that works lol haha hahaha hehe hmm hm mhm uh um oh ah aha wow yay please welcome re problem np worries
    mind all is well how are and i am m s there everyone again true agreed exactly indeed of course absolutely
    definitely go ahead continue done hola gracias adios merci bonjour salut danke hallo tschüss ja nein ciao grazie
    si sì oui non obrigado obrigada olá tak hej tack spasibo privet да нет спасибо привет
    はい ありがとう 谢谢 你好 好的 好
"""
_GREETINGS = frozenset(_SMALL_TALK.split())


def _any_of(phrases: str) -> re.Pattern[str]:
    """Return a pattern for any of the phrases, separated by commas, as whole words."""
    return re.compile(rf"\b(?:{'|'.join(re.escape(' '.join(phrase.split())) for phrase in phrases.split(','))})\b")


_CRITICAL = _any_of("""
    critical, critically, must, mustn't, essential, vital, urgent, urgently, emergency, never, always, mandatory,
    non-negotiable, nonnegotiable, crucial, allergy, allergic, allergies, life threatening, life-threatening, deadline,
    under no circumstances, at all costs, confidential
""")
_IMPORTANT = _any_of("""
    important, importantly, prefer, prefers, preferred, preference, decided, decision, agreed, remember, note that,
    for the record, keep in mind, significant, significantly, promise, promised, committed, goal, favourite, favorite,
    birthday, anniversary, love, loves, hate, hates, from now on, going forward, correction, don't forget, key point,
    priority
""")
_HEDGED = _any_of("""
    maybe, perhaps, might, possibly, probably, i think, i guess, i suppose, i believe, not sure, unsure, could be,
    sort of, kind of, kinda, apparently, seem, seems, supposedly, as far as i know, afaik, i'm not certain, roughly,
    more or less
""")
_FIRST_PERSON = _any_of("i, i'm, i've, i'd, i'll, my, mine, me, we, we're, we've, our, ours, us")
_SPECIFIC = re.compile(r"\d{2}|\bv?\d\.\d|\b(?:versions?|api|config(?:uration)?)\b|\w@\w|://")
_OPENING_CHARS = 600
_MACHINE_TEXT = re.compile(
    r"^\s*(?:#{1,3} )?(?:\[?system(?: prompt| message)?\]?:?\s{0,3})?you are (?:an? |the )?(?:\w{1,20}[ -]){0,4}"
    r"(?:assistant|chatbot|language model|ai|agent|llm)\b"
    r"|^\s*(?:system prompt\b|<system>|<\|(?:im_start|system)\|>)"
    r"|<tool_calls?>|<function_calls?>|\"tool_calls?\"\s*:|\"function_call\"\s*:|\"tool_use\"|\bmcp__\w"
    r"|^\s*\{\s*\"(?:name|tool|function)\"\s*:\s*\"\w{1,40}\"\s*,\s*\"(?:arguments|parameters|input|args)\"\s*:"
    r"|^\s*\[?(?:calling|running|using|invoking|called) (?:the )?(?:\w{1,30} )?tool\b"
    r"|^\s*\[?tool (?:call|result|output|use)\b",
    re.IGNORECASE,
)
_MEMORY = r"(?:long-term memory|memory bank|memory|memories|knowledge base)"
_PLACE = rf"(?:{_MEMORY}|notes|records|profile)"
_MEMORY_TALK = re.compile(
    r"\bi(?:'ve| have| just)? (?:now |just |also |successfully )?(?:saved|stored|recorded|logged|memori[sz]ed|noted)"
    r" (?:(?:that|this|it)(?: down| for (?:you|later|next time|future reference))?\s*(?:[.,!;:]|$)|your\b)"
    rf"|\bi(?:'ve| have|'ll| will)? (?:now |just |also )?(?:added?|updated?|saved?|stored?|kept|keep|put|committed)"
    rf" (?:\w{{1,20}} ){{0,8}}?(?:to|in|into) (?:my |your |the )?(?:{_MEMORY}|notes about you|your profile)\b"
    r"|\bi(?:'ve| have) made a note\b|\bi(?:'ll| will) make a note\b"
    r"|\bi(?:'ve| have) updated (?:my memor|my records|your (?:profile|preferences))"
    r"|\bi(?:'ll| will)(?: be sure to| make sure to)? remember (?:(?:that|this|it)(?=\s*[.,!;]|\s*$)|(?:that )?your?\b)"
    r"|\bi(?:'ll| will) keep (?:that|this|it) in mind\b"
    r"|\b(?:according to|based on|checking|searching|looking (?:at|through)) (?:my|your|the|our)"
    rf" (?:\w{{1,20}} )?{_MEMORY}\b"
    rf"|\b(?:according to|based on|from) (?:my|the) {_PLACE},? (?:about you|you|your)\b"
    r"|\b(?:based on|from) what i (?:remember|recall|know about you|have stored)\b"
    r"|\b(?:based on|from) our (?:previous|earlier|past) (?:conversation|chat)s?\b"
    r"|\bi (?:don't|do not|can't|cannot) (?:seem to )?(?:have|find|see) (?:any |a )?(?:\w{1,20} )?"
    r"(?:memory|memories|records?|recollection|stored information|information stored) (?:of|about|that|for|related)\b"
    r"|\bi have no (?:memory|memories|records?|recollection) (?:of|about)"
    r" (?:that|this|you|your|our|us|any|a previous|discussing|such)\b"
    r"|\bi (?:don't|do not|can't) (?:recall|remember)"
    r" (?:you (?:mentioning|telling|saying)|us (?:discussing|talking)|our (?:previous|earlier))"
    r"|\blet me (?:check|search|look (?:through|in|at)|consult|query|update) (?:my |the |your )?"
    rf"(?:\w{{1,20}} )?{_MEMORY}\b"
    r"|\bmemor(?:y|ies) (?:has been |have been |was |were )?"
    r"(?:saved|stored|updated|created|recalled|retrieved|deleted)\b"
    r"|\b(?:saving|storing|searching|retrieving|recalling|updating) (?:\w{1,20} ){0,6}?"
    r"(?:to|from|in|into|my|the) (?:long-term )?memory\b|\b(?:searching|updating) memor(?:y|ies)\b"
    r"|\b(?:no|\d{1,4}) (?:relevant )?memories (?:were |was )?found\b"
    rf"|\bnothing (?:was )?found in (?:my |the )?{_MEMORY}\b"
    r"|\bi don't (?:retain|have access to|keep) (?:\w{1,20} ){0,3}(?:memory|memories|conversations|previous)\b"
    r"|\bas an ai(?: language)? (?:model|assistant)\b|\bmy knowledge cutoff\b",
    re.IGNORECASE,
)
