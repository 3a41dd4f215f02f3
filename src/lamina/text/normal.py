"""The one normal form by which two texts are called the same."""

from __future__ import annotations

import re
import unicodedata

_ASCII_WORDS = {code: chr(code).lower() if chr(code).isalnum() else " " for code in range(128)}
_SHORT = 4096
_SIGNS = re.compile(r".*\w([+#]+)\W*")
_BLOCK = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]{1,1000}")


def compatible(text: str) -> str:
    """The text compatibility composed (NFKC). Long texts go in blocks: the time for one run of marks is its square."""
    if len(text) <= _SHORT:
        return unicodedata.normalize("NFKC", text)
    return _BLOCK.sub(lambda block: unicodedata.normalize("NFKC", block.group()), text)


def normal_form(text: str) -> str:
    """Letters and digits of any script, case folded and compatibility composed, words joined by single spaces."""
    if text.isascii():
        return " ".join(text.translate(_ASCII_WORDS).split())
    folded = compatible(compatible(text).casefold())
    return " ".join("".join(char if _is_word_char(char) else " " for char in folded).split())


def name_form(name: str) -> str:
    """The normal form of a name in which signs right behind a word count: neither C++ nor C# is C."""
    if "+" not in (whole := compatible(name)) and "#" not in whole:
        return normal_form(name)
    return " ".join(filter(None, map(_signed, whole.split())))


def _signed(word: str) -> str:
    signs, form = _SIGNS.fullmatch(word), normal_form(word)
    # Behind a mark that joins no letter they would not be found again.
    return form + signs[1] if signs and re.fullmatch(r".*\w", form) else form


def value_form(text: str) -> str:
    """By which two values are the same: case, spaces and stops around them do not count, every sign within does."""
    return one_line(compatible(compatible(text).casefold())).strip(" .,;:!?\"'“”‘’")


def same_text(one: str, other: str) -> bool:
    """Whether two texts say the same words; texts without any word are never the same."""
    form = normal_form(one)
    return bool(form) and form == normal_form(other)


def one_line(text: str) -> str:
    """The text on one line, white space folded; for labels such as a subject."""
    return " ".join(text.split())


def _is_word_char(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNM"
