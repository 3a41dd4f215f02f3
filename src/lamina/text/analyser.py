"""Split texts into tokens. Stored text and questions are analysed the same way on every store.

A word is a run of letters, digits and marks of any script. Words in Latin script get an English stem; scripts written
without spaces become pairs of characters; an identifier gives its parts and the whole. A token consists only of ASCII
lower-case letters, digits and non-ASCII characters, so a search engine that splits at other ASCII characters sees
exactly these tokens when they are joined by spaces.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from dataclasses import dataclass

import Stemmer

MAX_TOKEN_LENGTH = 64
"""The number of characters of a word that count; the rest is cut."""

_STOP_WORD_LIST = """
    a an the this that these those
    i im ive me my mine myself we weve our ours ourselves you youre youve your yours yourself
    he hes him his himself she shes her hers herself it its itself they theyre them their theirs themselves
    what whats which who whos whom whose when where why how
    am is are was were be been being isnt arent wasnt werent
    do does did done doing dont doesnt didnt
    has have had having hasnt havent hadnt
    can could cant cannot couldnt would wouldnt will wont shall should shouldnt might must
    and or but nor so than then if because while as until
    of at by for with from about into onto to in on off over under between through during before after against
    above below up down out there theres here again also just only very too not no any some such both each other
    same own now
"""
STOP_WORDS: frozenset[str] = frozenset(_STOP_WORD_LIST.split())
"""Words that questions consist of and answers do not; compared before stemming."""


_MAX_UNSPLIT = 4096
_BLOCK = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]{1,1000}")


@dataclass(frozen=True, slots=True)
class QueryToken:
    """A token of a question, and the word as it was asked, for display."""

    token: str
    word: str


def to_nfkc(text: str) -> str:
    """Return the text in NFKC. Long texts are converted in blocks, because long runs of marks take quadratic time."""
    if len(text) <= _MAX_UNSPLIT:
        return unicodedata.normalize("NFKC", text)
    return _BLOCK.sub(lambda block: unicodedata.normalize("NFKC", block.group()), text)


def analyse(text: str) -> list[str]:
    """Return the tokens of a text, in order; at least one if it has a letter or digit of any script."""
    if not text.isascii():
        text = to_nfkc(text).translate(_FOLD_TABLE)
    return list(map(_STEMS.__getitem__, _split_words(text)))


def content_tokens(text: str) -> list[str]:
    """Return the tokens of a text without stop words, in order; none if it has no other words."""
    if not text.isascii():
        text = to_nfkc(text).translate(_FOLD_TABLE)
    return [_STEMS[word] for word in _split_words(text) if word not in STOP_WORDS]


def query_tokens(text: str) -> list[QueryToken]:
    """Return the tokens of a question without stop words and duplicates; all of them if nothing else is left."""
    if not text.isascii():
        text = to_nfkc(text).translate(_DISPLAY_TABLE)
    tokens: dict[str, QueryToken] = {}
    stop_tokens: dict[str, QueryToken] = {}
    for chunk in _CHUNK.findall(text):
        for word in _split_words(chunk.translate(_FOLD_TABLE)):
            token = _STEMS[word]
            display = word if _UNSPACED.search(chunk) else chunk.strip("'_")
            (stop_tokens if word in STOP_WORDS else tokens).setdefault(token, QueryToken(token, display))
    return list((tokens or stop_tokens).values())


_HAN_KANA = (
    r"\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U0001aff0-\U0001b16f\U00020000-\U0003fffd"
)
_HANGUL = r"\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
_SOUTHEAST_ASIAN = r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\ua9e0-\ua9ff\uaa60-\uaa7f"
_ALL_UNSPACED = _HAN_KANA + _HANGUL + _SOUTHEAST_ASIAN
_UNSPACED = re.compile(rf"[{_ALL_UNSPACED}]")
_RUN = re.compile(
    rf"[{_HAN_KANA}]+|[{_HANGUL}]+|[{_SOUTHEAST_ASIAN}]+"
    rf"|[^{_ALL_UNSPACED}\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]+"
)
_SPACED = re.compile(rf"[{_HANGUL}]")
_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003fffd]")

_WORD_CHAR = r"[A-Za-z0-9\x80-\U0010ffff]"
_CHUNK = re.compile(r"[A-Za-z0-9_'\x80-\U0010ffff]+")
_APOSTROPHE = re.compile(rf"['ʼ](?<={_WORD_CHAR}['ʼ])(?:[sS](?!{_WORD_CHAR})|(?={_WORD_CHAR}))")
_IDENTIFIER = re.compile(r"[A-Z_](?:(?<=_)|(?<=[a-z0-9][A-Z])|(?<=[A-Z]{2})(?=[a-z]{2}))")
_HUMP = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})")
_ASCII_WORDS = "".join(chr(code).lower() if chr(code).isalnum() else " " for code in range(128))


def _split_words(folded: str) -> list[str]:
    """Return the words of a folded text before stemming."""
    if "'" in folded or "ʼ" in folded:
        folded = _APOSTROPHE.sub("", folded)
    identifiers = _IDENTIFIER.search(folded) is not None
    if folded.isascii() and not identifiers:
        return folded.translate(_ASCII_WORDS).split()
    words: list[str] = []
    for run in _RUN.findall(folded):
        if _UNSPACED.match(run):
            words += _character_pairs(run)
        elif identifiers and _IDENTIFIER.search(run):
            words += _split_identifier(run)
        else:
            words.append(run.casefold())
    return words


def _character_pairs(run: str) -> list[str]:
    """Return overlapping pairs of characters, also the whole of a spaced word and each Han character, which may be a
    word."""
    pairs = [run[at : at + 2] for at in range(max(1, len(run) - 1))]
    if len(run) < 2:
        return pairs
    if _SPACED.match(run):
        return [run, *pairs] if len(run) > 2 else pairs
    return [*_HAN.findall(run), *pairs]


def _split_identifier(identifier: str) -> list[str]:
    parts = [part.casefold() for part in _HUMP.split(identifier) if part]
    return [*parts, "".join(parts)] if len(parts) > 1 else parts


class _StemCache(dict[str, str]):
    """A cache of the token of each word: the stem of a Latin word. The stemmer serves one thread at a time."""

    def __init__(self) -> None:
        self._stemmer = Stemmer.Stemmer("english", 0)
        self._lock = threading.Lock()

    def __missing__(self, word: str) -> str:
        if not word.isascii():
            return word[:MAX_TOKEN_LENGTH]
        with self._lock:
            token: str = self._stemmer.stemWord(word[:MAX_TOKEN_LENGTH])
        if len(self) >= _MAX_CACHED_WORDS:
            self.clear()
        if len(word) <= MAX_TOKEN_LENGTH:
            self[word] = token
        return token


ANALYSER_VERSION = f"2 snowball {Stemmer.version()}"
"""The version of the tokens and mentioned dates; an index built with another version is rebuilt."""
_MAX_CACHED_WORDS = 100_000
_STEMS = _StemCache()


class _FoldTable(dict[int, str]):
    """A map from each character to its indexed form: itself without accents, a space, or nothing. Filled on demand."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold(chr(code))
        return folded


class _DisplayTable(dict[int, str]):
    """The same split into words, with every character of a word as it was written."""

    def __missing__(self, code: int) -> str:
        folded = _FOLD_TABLE[code]
        self[code] = indexed_form = folded if " " in folded or not folded or folded == "'" else chr(code)
        return indexed_form


_FOLD_TABLE = _FoldTable()
_DISPLAY_TABLE = _DisplayTable()

_SPECIAL_LETTERS = dict(zip("øØłŁđĐðÐħĦı", "oOlLdDdDhHi", strict=True)) | {
    "æ": "ae",
    "Æ": "AE",
    "œ": "oe",
    "Œ": "OE",
    "þ": "th",
    "Þ": "TH",
    "ß": "ss",
    "ẞ": "SS",
}
_DROPPED_MARKS = re.compile(r"[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]")
_VARIATION_SELECTORS = range(0xE0100, 0xE01F0)
_EMOJI = re.compile(r"[\u2300-\u23ff\u2600-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")
_ZERO_WIDTH_SPACE = "\u200b"


def _fold(char: str) -> str:
    category = unicodedata.category(char)
    if char in "'_":
        return char
    if char == "’":
        return "'"
    if (
        _DROPPED_MARKS.match(char)
        or ord(char) in _VARIATION_SELECTORS
        or (category == "Cf" and char != _ZERO_WIDTH_SPACE)
    ):
        return ""
    if category == "Nd":
        return str(unicodedata.decimal(char))
    if category[0] == "L":
        return _fold_letter(char)
    if category in ("So", "Cn") and _EMOJI.match(char):
        return f" {char} "
    # A letter of a script newer than this Python's tables has no category yet; it is still a letter.
    return char if category[0] in "MN" or category == "Cn" else " "


def _fold_letter(char: str) -> str:
    base = unicodedata.normalize("NFD", char)[0]
    if base in _SPECIAL_LETTERS:
        return _SPECIAL_LETTERS[base]
    return base if base.isascii() or unicodedata.name(base, "").startswith("GREEK") else char
