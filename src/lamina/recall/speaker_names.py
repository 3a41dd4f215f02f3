"""Finding the stored speakers that a question names, and removing their names from the question."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from lamina.atom.passage import ROLE_NAMES
from lamina.text.analyser import STOP_WORDS
from lamina.text.normal_form import normal_form, one_line

_COMMON_WORD_NAMES = """
    will may mark art hope grace joy faith rose dawn bill pat rob sue drew frank gene grant guy josh lance miles nick
    pierce ray rich rusty skip jack dean chase chance hunter mason cooper carter parker porter taylor tanner sky star
    ivy lily iris daisy olive ginger amber ruby pearl jade melody harmony charity patience prudence chastity destiny
    serenity trinity heaven angel eve april june august autumn summer winter jan christian max penny dale glen cliff
    heath reed brook wade bob dot buck bud chip duke earl king prince major sandy rocky stormy wren robin jay jean
    honey cherry candy crystal gray grey wolf page sage basil rue tad van viola norm stew victor
"""
COMMON_WORD_NAMES: frozenset[str] = frozenset(_COMMON_WORD_NAMES.split())
"""Names that are also words: they count only with a capital inside a sentence, or as a possessive."""

_MONTHS = frozenset({"april", "may", "june", "august", "jan", "summer", "autumn", "winter"})
_BEFORE_A_MONTH = frozenset({"in", "last", "this", "next", "since", "until", "during", "of", "early", "late", "mid"})
_TITLES = frozenset({"mr", "mrs", "ms", "dr", "prof", "sir", "team", "new", "st", "de", "van", "von", "el", "la"})
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")
_POSSESSIVE = re.compile(r"['’ʼ](?:[sS](?!\w)|(?!\w))")
_GAP_BEFORE_STOP = re.compile(r"\s+(?=[?.!,;:])")


def find_speakers(question: str, names: Collection[str]) -> tuple[str, ...]:
    """Return the stored names that occur in a question as whole words, in order of occurrence."""
    return tuple(dict.fromkeys(place.name for place in _find_names(question, names)))


def remove_speakers(question: str, names: Collection[str]) -> str:
    """Return the question without these names, or unchanged if no word would be left."""
    parts: list[str] = []
    end = 0
    for place in _find_names(question, names):
        if place.end > end:
            parts.append(question[end : max(end, place.start)])
            possessive = _POSSESSIVE.match(question, place.end)
            end = possessive.end() if possessive else place.end
    if not end:
        return question
    left = _GAP_BEFORE_STOP.sub("", one_line(" ".join([*parts, question[end:]])))
    return left if normal_form(left) else question


@dataclass(frozen=True, slots=True)
class _Word:
    form: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _NamePosition:
    """The position of a name in a question."""

    start: int
    end: int
    name: str


def _find_names(question: str, names: Collection[str]) -> list[_NamePosition]:
    """Return the positions of names, without those inside longer ones."""
    words = _split_words(question)
    at: dict[str, list[int]] = {}
    for index, word in enumerate(words):
        at.setdefault(word.form, []).append(index)
    whole: list[_NamePosition] = []
    by_first: dict[str, list[str]] = {}
    for name in names:
        form, first = _normal_forms(name)
        if first in at and form not in ROLE_NAMES:
            whole += _find_full_name(question, words, at[first], form, name)
            if first != form:
                by_first.setdefault(first, []).append(name)
        elif not form.isascii() and _UNSPACED.search(form):
            whole += _find_unspaced(question, name)
    firsts = [place for first, of in by_first.items() for place in _find_first_name(question, words, at[first], of)]
    return _drop_nested(whole + [place for place in firsts if not _is_covered(place, whole)])


@lru_cache(maxsize=65_536)
def _normal_forms(name: str) -> tuple[str, str]:
    """Return the normal form of a name, and its first word."""
    form = normal_form(name)
    return form, form.partition(" ")[0]


def _find_full_name(question: str, words: list[_Word], starts: list[int], form: str, name: str) -> list[_NamePosition]:
    parts = form.split()
    if len(parts) == 1:
        return [_NamePosition(words[at].start, words[at].end, name) for at in starts if _is_name(question, words, at)]
    return [
        _NamePosition(words[at].start, words[at + len(parts) - 1].end, name)
        for at in starts
        if [word.form for word in words[at : at + len(parts)]] == parts
    ]


def _find_first_name(question: str, words: list[_Word], starts: list[int], names: list[str]) -> list[_NamePosition]:
    """Return where a first name stands for the only stored name that begins with it."""
    first = words[starts[0]].form
    if len(names) != 1 or first in _TITLES or first in ROLE_NAMES:
        return []
    return [
        _NamePosition(words[at].start, words[at].end, names[0])
        for at in starts
        if not question[words[at].start].islower() and _is_name(question, words, at)
    ]


def _is_name(question: str, words: list[_Word], at: int) -> bool:
    word = words[at]
    if word.form.isdecimal() or (len(word.form) == 1 and word.form.isascii()):
        return False
    if word.form not in COMMON_WORD_NAMES:
        return word.form not in STOP_WORDS
    written = question[word.start : word.end]
    if not written[0].isupper() or (written.isupper() and len(written) > 1):
        return False
    if word.form in _MONTHS and _is_in_date(words, at):
        return False
    return _POSSESSIVE.match(question, word.end) is not None or not _starts_sentence(question, word.start)


def _is_in_date(words: list[_Word], at: int) -> bool:
    before = words[at - 1].form if at else ""
    after = words[at + 1].form if at + 1 < len(words) else ""
    return before in _BEFORE_A_MONTH or before[:1].isdecimal() or after[:1].isdecimal()


def _starts_sentence(question: str, at: int) -> bool:
    """Return whether a sentence starts here."""
    before = question[max(0, at - 16) : at].rstrip(" \t\"'“‘«(¿¡")
    return before[-1:] in ".?!:;\n。？！" if before else True


def _find_unspaced(question: str, name: str) -> list[_NamePosition]:
    """Return the positions of a name in a script without spaces, anywhere in the question."""
    name_form = unicodedata.normalize("NFC", name.strip())
    if len(name_form) < 2:
        return []
    return [_NamePosition(match.start(), match.end(), name) for match in re.finditer(re.escape(name_form), question)]


def _is_covered(position: _NamePosition, positions: list[_NamePosition]) -> bool:
    return any(other.start <= position.start and position.end <= other.end for other in positions)


def _drop_nested(positions: list[_NamePosition]) -> list[_NamePosition]:
    """Return the positions in order, without those that are inside a longer one."""
    longest: list[_NamePosition] = []
    for place in sorted(positions, key=lambda place: (place.start, -place.end)):
        if (
            not longest
            or place.end > longest[-1].end
            or (place.start, place.end) == (longest[-1].start, longest[-1].end)
        ):
            longest.append(place)
    return longest


def _split_words(text: str) -> list[_Word]:
    """Return the words of a text by normal form, with their positions."""
    if text.isascii():
        return [_Word(match.group().lower(), match.start(), match.end()) for match in _ASCII_WORD.finditer(text)]
    words: list[_Word] = []
    start = 0
    for index in range(len(text) + 1):
        if index < len(text) and unicodedata.category(text[index])[0] in "LNM":
            continue
        if index > start:
            words += [_Word(form, start, index) for form in normal_form(text[start:index]).split()]
        start = index + 1
    return words
