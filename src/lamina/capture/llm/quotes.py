"""Quotes of a language model: where they are in the words, and whether the words support what it says."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache

from lamina.atom.passage import ROLE_NAMES
from lamina.capture.extractors import CapturedTurn
from lamina.capture.llm.grammatical_person import find_possessed_thing, find_pronoun_persons, split_words
from lamina.capture.receipt import DropReason
from lamina.text.analyser import STOP_WORDS, analyse, query_tokens
from lamina.text.date_mentions import find_dates
from lamina.text.normal_form import normal_form
from lamina.text.sentences import find_sentences
from lamina.text.timestamps import parse_time

QuoteSpan = tuple[int, int]

UNSPACED_SCRIPTS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\U0003ffff]")
"""Letters of scripts that put no spaces between words, or that join endings to them."""
_MIN_QUOTE_LETTERS = 4
"""Quotes with fewer letters occur in any text."""
_TRIMMED_CHARS = " .,;:!?…'()-"
_EQUIVALENT_CHARS = str.maketrans(
    dict.fromkeys('"“”„«»‘’‚`´', "'")
    | dict.fromkeys("<‹[({", "(")
    | dict.fromkeys(">›])}", ")")
    | dict.fromkeys("‐‑‒–—−", "-")
)


class QuoteFinder:
    """A text prepared for finding quotes in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        letters: list[str] = []
        self._places: list[int] = []
        for place, char in enumerate(text):
            for letter in _fold(char):
                if letter != " " or (letters and letters[-1] != " "):
                    letters.append(letter)
                    self._places.append(place)
        self._letters = "".join(letters)

    def find_sentences(self, quote: str) -> QuoteSpan | None:
        """Return the span of the whole sentences that contain the quote; None if the text lacks it."""
        span = self.find_quote(quote)
        return self._enclosing_sentences(*span) if span else None

    def find_quote(self, quote: str) -> QuoteSpan | None:
        """Return the span of the quote itself; None if the text lacks it."""
        folded_quote = " ".join("".join(map(_fold, quote)).split()).strip(_TRIMMED_CHARS)
        if sum(char.isalnum() for char in folded_quote) < _MIN_QUOTE_LETTERS:
            return None
        at = self._letters.find(folded_quote)
        while at >= 0 and not self._is_whole_words(at, at + len(folded_quote)):
            at = self._letters.find(folded_quote, at + 1)
        if at < 0:
            return None
        return self._places[at], self._places[at + len(folded_quote) - 1] + 1

    def _is_whole_words(self, start: int, end: int) -> bool:
        """Return whether no word is cut at either end; scripts without spaces have no such ends."""
        return not (
            _is_within_word(self._letters[start - 1 : start + 1]) or _is_within_word(self._letters[end - 1 : end + 1])
        )

    def _enclosing_sentences(self, start: int, end: int) -> QuoteSpan:
        enclosing = [span for span in find_sentences(self._text) if span[0] < end and start < span[1]]
        return (enclosing[0][0], enclosing[-1][1]) if enclosing else (start, end)


def _is_within_word(pair: str) -> bool:
    return len(pair) == 2 and pair.isalnum() and not UNSPACED_SCRIPTS.search(pair)


@lru_cache(maxsize=8192)
def _fold(char: str) -> str:
    if char.isspace():
        return " "
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn"):
        return ""
    return unicodedata.normalize("NFKD", char.casefold()).casefold().translate(_EQUIVALENT_CHARS)


MIN_STATED_SHARE = 0.5
"""The least share of the content words that the quoted sentence must contain."""
MIN_QUOTED_SHARE = 0.6
"""The least share of the quoted clause that the content must keep: "I stopped smoking" is not "smokes"."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_TOKEN = re.compile(r"[^\W_]+")
_PART = re.compile(r"\d+|[^\W\d_]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SENTENCE_START = re.compile(r"(?:^|[.!?]\s+)\W*$")
_CLAUSE_BREAK = re.compile(
    r"[,;:.!?()\n]|[–—]|\b(?:and|but|so|because|which|who|while|though|although)\b", re.IGNORECASE
)
_MIN_STEM_CHARS = 4
"""Words that share this many first letters, and all but the last of the shorter one, count as the same word."""
_QUESTION_MARKS = ("?", "？", "؟")
_NUMBERS = {
    "zero": "0",
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
    "eleven": "11",
    "twelve": "12",
}
_ALWAYS_KNOWN = frozenset({"i", *ROLE_NAMES})
_DETERMINERS = frozenset(["the", "a", "an", "this", "that", "these", "those"])
_NEGATIONS = frozenset(
    split_words("not never no none nobody nothing neither nor without cannot cant dont wont isnt didnt")
)
_HEDGES = frozenset(
    split_words(
        "might may maybe perhaps would could should want wants wanna hope hoping plan plans planning gonna "
        "thinking think thought considering considered probably almost nearly used guess former formerly ex"
    )
)
_SUPPOSITIONS = frozenset(split_words("if unless wish imagine suppose supposing pretend joking kidding dreamt dreamed"))
"""Words that make a whole sentence hypothetical, not only their clause."""


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """The words that a statement quotes: the turn, the spans of the quote and of its sentences, and the context."""

    turn: CapturedTurn
    quote: QuoteSpan
    sentences: QuoteSpan
    context: Sequence[str]

    @property
    def sentence(self) -> str:
        """The whole sentences that contain the quote."""
        return self.turn.text[self.sentences[0] : self.sentences[1]]

    @property
    def clause(self) -> str:
        """The quote, extended to the ends of the clauses it begins and ends in."""
        before = self.turn.text[self.sentences[0] : self.quote[0]]
        breaks = [match.end() for match in _CLAUSE_BREAK.finditer(before)]
        start = self.sentences[0] + breaks[-1] if breaks else self.sentences[0]
        after = _CLAUSE_BREAK.search(self.turn.text, self.quote[1], self.sentences[1])
        return self.turn.text[start : after.start() if after else self.sentences[1]]


def find_unsupported_reason(
    content: str, subject: str, passage: QuotedPassage, *, is_speaker: bool, days: Sequence[date]
) -> DropReason | None:
    """Return the first reason why the words do not support a statement; None if they do."""
    if passage.sentence.rstrip(" \"'”’)*_").endswith(_QUESTION_MARKS):
        return DropReason.QUESTION
    if not normal_form(content):
        return DropReason.CONTENT
    named = " ".join(word for day in days for word in _day_words(day))
    speaker = passage.turn.speaker or ""
    about = speaker if is_speaker else f"{subject} {speaker if find_pronoun_persons(passage.clause).has_first else ''}"
    if not all(has_only_known_names(text, passage.context, days) for text in (content, f"of {subject}")):
        return DropReason.NAME
    if not _has_same_owner(content, subject, passage, is_speaker=is_speaker, known=f"{about} {named}"):
        return DropReason.OWNER
    if _is_meaning_reversed(content, passage):
        return DropReason.MEANING_REVERSED
    return None if _has_same_words(content, f"{about} {named}", passage) else DropReason.CONTENT


def occurs_in(words: str, text: str) -> bool:
    """Return whether every word occurs in the text; in scripts without spaces, whether the text contains them."""
    form, whole = normal_form(words), normal_form(text)
    if not form:
        return False
    return set(form.split()) <= set(whole.split()) or (UNSPACED_SCRIPTS.search(form) is not None and form in whole)


def content_words(text: str) -> frozenset[str]:
    """Return the tokens of a text without its function words; small numbers as digits."""
    return frozenset(_NUMBERS.get(term.token, term.token) for term in query_tokens(_THOUSANDS.sub("", text)))


def has_only_known_names(content: str, context: Sequence[str], days: Iterable[date]) -> bool:
    """Return whether every name and number of a statement occurs in the context or in a day that it names."""
    known_parts = _ALWAYS_KNOWN | set(_split_digits_and_letters(" ".join(context)))
    known_parts |= {_NUMBERS[word] for word in known_parts & _NUMBERS.keys()}
    for day in days:
        known_parts |= _day_words(day)
    return all(part in known_parts for word in find_names(content) for part in _split_digits_and_letters(word))


def find_names(content: str) -> list[str]:
    """Return the words with a digit or, not at the start of a sentence, a capital."""
    return [
        match.group()
        for match in _TOKEN.finditer(_THOUSANDS.sub("", content))
        if any(map(str.isdigit, match.group()))
        or (match.group()[0].isupper() and not _SENTENCE_START.search(match.string[: match.start()][-8:]))
    ]


def find_named_days(turn: CapturedTurn, *more: datetime | None) -> list[date]:
    """Return the day of a turn, the first and last days of the times it names, and the given days."""
    today = turn.at.date()
    spans = [mention.span for mention in find_dates(turn.text, today) if mention.span]
    ends = [end - timedelta(days=1) for start, end in spans if end > start]
    return [today, *(start for start, _ in spans), *ends, *(moment.date() for moment in more if moment)]


def parse_stated_day(text: str, turn: CapturedTurn) -> datetime | None:
    """Return the moment of a stated day if the turn names a time; the turn's own day is always allowed. Else None."""
    if not _DAY.fullmatch(text.strip()):
        return None
    try:
        moment = parse_time(text)
    except ValueError:
        return None
    today = turn.at.date()
    is_named = text.strip() == today.isoformat() or find_dates(turn.text, today) or _YEAR.search(turn.text)
    return moment if is_named else None


def _has_same_owner(content: str, subject: str, passage: QuotedPassage, *, is_speaker: bool, known: str) -> bool:
    """Return whether quote and statement are about the same person or thing."""
    quoted, stated = find_pronoun_persons(passage.clause), find_pronoun_persons(content)
    if is_speaker and not quoted.has_first and (quoted.has_third or quoted.has_second or _names_another(passage)):
        return False
    if not is_speaker and (
        quoted.has_first_subject or not (quoted.has_third or _shares_word(subject, passage.sentence))
    ):
        return False
    if (stated.has_first and not quoted.has_first) or (stated.has_second and not quoted.has_second):
        return False
    if stated.has_third and not (quoted.has_third or quoted.has_first):
        return False
    thing = find_possessed_thing(passage.clause) if not quoted.has_first_subject else None
    if thing is not None and thing not in analyse(content):
        return False
    if quoted.has_first and not _adds_no_name(content, known, passage):
        return False
    return _begins_with_known_word(content, known, passage)


def _names_another(passage: QuotedPassage) -> bool:
    """Return whether the clause begins with a thing, or with a name that is not the speaker's."""
    first = next(iter(_TOKEN.findall(passage.clause)), "")
    return first.lower() in _DETERMINERS or (
        first[:1].isupper()
        and first.lower() not in STOP_WORDS
        and any(first in text for text in passage.context if text != passage.turn.text)
        and not _shares_word(first, passage.turn.speaker or "")
    )


def _adds_no_name(content: str, known: str, passage: QuotedPassage) -> bool:
    """Return whether a first-person quote gets no name that it lacks; a pronoun such as "there" may stand for one."""
    names = [name for name in find_names(content) if not any(map(str.isdigit, name))]
    known_text = f"{passage.sentence} {known}"
    return find_pronoun_persons(passage.sentence).has_anaphor or all(_shares_word(name, known_text) for name in names)


def _begins_with_known_word(content: str, known: str, passage: QuotedPassage) -> bool:
    """Return whether the first word, which may be a name, is known from the words or is a function word."""
    words = split_words(content)
    if not words or words[0].partition("'")[0] in STOP_WORDS | ROLE_NAMES:
        return True
    around = passage.context if find_pronoun_persons(passage.sentence).has_third else ()
    return _shares_word(words[0], " ".join((passage.sentence, known, *around)))


def _is_meaning_reversed(content: str, passage: QuotedPassage) -> bool:
    """Return whether content and quote differ in a negation, or the content lost what makes the quote uncertain."""
    content_set = set(split_words(content))
    clause, sentence = set(split_words(passage.clause)), set(split_words(passage.sentence))
    if _is_negated(content_set) != _is_negated(clause):
        return True
    hedges = {word.partition("'")[0] for word in clause} & _HEDGES | sentence & _SUPPOSITIONS
    return not {analyse(hedge)[0] for hedge in hedges} <= set(analyse(content))


def _is_negated(words: set[str]) -> bool:
    return bool(words & _NEGATIONS) or any(word.endswith("n't") for word in words)


def _has_same_words(content: str, known: str, passage: QuotedPassage) -> bool:
    """Return whether content and quote share enough words, and names and numbers in the same order."""
    sentence_words = content_words(passage.sentence)
    stated = content_words(content) - content_words(known) - ROLE_NAMES
    if find_pronoun_persons(passage.sentence).has_anaphor:
        stated -= content_words(" ".join(passage.context)) - sentence_words
    quoted = content_words(passage.clause) - time_words(passage.clause, passage.turn.at.date())
    if not (stated or quoted) or _share_of_words(stated, sentence_words) < MIN_STATED_SHARE:
        return False
    return _share_of_words(quoted, content_words(content)) >= MIN_QUOTED_SHARE and _keeps_order(
        content, passage.sentence
    )


def _share_of_words(words: frozenset[str], known: frozenset[str]) -> float:
    """Return the share of words that are among the known ones, apart from their endings."""
    return sum(any(_is_alike(word, other) for other in known) for word in words) / len(words) if words else 1.0


def _is_alike(one: str, other: str) -> bool:
    shorter = min(len(one), len(other))
    return one == other or (
        shorter >= _MIN_STEM_CHARS
        and one[: max(_MIN_STEM_CHARS, shorter - 1)] == other[: max(_MIN_STEM_CHARS, shorter - 1)]
    )


def time_words(text: str, today: date) -> frozenset[str]:
    """Return the tokens of a text's expressions of time, which a date replaces."""
    return frozenset(token for named in find_dates(text, today) for token in analyse(text[named.start : named.end]))


def _keeps_order(content: str, sentence: str) -> bool:
    """Return whether the names and numbers that both contain are in the same order: from Porto to Lisbon, not back."""
    tokens = analyse(sentence)
    names = dict.fromkeys(token for name in find_names(content) for token in analyse(name))
    positions = [tokens.index(token) for token in names if tokens.count(token) == 1]
    return positions == sorted(positions)


def _shares_word(words: str, text: str) -> bool:
    return bool((set(analyse(words)) - STOP_WORDS) & set(analyse(text)))


def _split_digits_and_letters(text: str) -> list[str]:
    """Return runs of digits and runs of letters, so that 3pm is 3 and pm, and 1,200 is 1200."""
    return _PART.findall(normal_form(_THOUSANDS.sub("", text)))


def _day_words(day: date) -> set[str]:
    names = f"{day:%A %a %B %b}".lower().split()
    numbers = {str(day.day), f"{day.day:02d}", str(day.month), f"{day.month:02d}", str(day.year)}
    return {*names, *numbers, "st", "nd", "rd", "th"}
