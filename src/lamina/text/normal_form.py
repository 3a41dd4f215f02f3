"""Convert texts to the normal form in which they are compared."""

from __future__ import annotations

import re
import unicodedata

_ASCII_WORDS = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
_MAX_UNSPLIT = 4096
_SIGNS = re.compile(r".*\w([+#]+)\W*")
_BLOCK = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]{1,1000}")


def to_nfkc(text: str) -> str:
    """Return the text in NFKC. Long texts are converted in blocks, because long runs of marks take quadratic time."""
    if len(text) <= _MAX_UNSPLIT:
        return unicodedata.normalize("NFKC", text)
    return _BLOCK.sub(lambda block: unicodedata.normalize("NFKC", block.group()), text)


def normal_form(text: str) -> str:
    """Return letters and digits of any script, case folded and in NFKC, words joined by single spaces."""
    if text.isascii():
        return " ".join(text.translate(_ASCII_WORDS).split())
    folded = to_nfkc(to_nfkc(text).casefold())
    return " ".join("".join(char if _is_word_char(char) else " " for char in folded).split())


def name_form(name: str) -> str:
    """Return the normal form of a name in which signs right after a word count: C++, C# and C are different."""
    if "+" not in (composed := to_nfkc(name)) and "#" not in composed:
        return normal_form(name)
    return " ".join(filter(None, map(_normalise_name_word, composed.split())))


def _normalise_name_word(word: str) -> str:
    signs, form = _SIGNS.fullmatch(word), normal_form(word)
    # After a mark that joins no letter they could not be found again.
    return form + signs[1] if signs and re.fullmatch(r".*\w", form) else form


def value_form(text: str) -> str:
    """Return the form in which two values are compared: case, spaces and surrounding punctuation do not count."""
    return one_line(to_nfkc(to_nfkc(text).casefold())).strip(" .,;:!?\"'“”‘’")


def is_same_text(one: str, other: str) -> bool:
    """Return whether two texts have the same words; texts without words are never the same."""
    form = normal_form(one)
    return bool(form) and form == normal_form(other)


def one_line(text: str) -> str:
    """Return the text on one line with white space collapsed, for labels such as a subject."""
    return " ".join(text.split())


def _is_word_char(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNM"
