"""The one normal form by which two texts are called the same."""

from __future__ import annotations

import unicodedata


def normal_form(text: str) -> str:
    """Letters and digits of any script, case folded and compatibility composed, words joined by single spaces."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    if folded.isascii():
        return " ".join("".join(char if char.isalnum() else " " for char in folded).split())
    return " ".join("".join(char if _is_word_char(char) else " " for char in folded).split())


def same_text(one: str, other: str) -> bool:
    """Whether two texts say the same words; texts without any word are never the same."""
    form = normal_form(one)
    return bool(form) and form == normal_form(other)


def one_line(text: str) -> str:
    """The text on one line, white space folded; for labels such as a subject."""
    return " ".join(text.split())


def _is_word_char(char: str) -> bool:
    return unicodedata.category(char)[0] in "LNM"
