"""Bytes of a text file as text: UTF-8 as a rule, what Windows writes where it must be, and never garbage."""

from __future__ import annotations

import codecs
import re

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_UNHOLDABLE = re.compile("[\x00\ud800-\udfff]")
_MOST_CONTROLS = 0.01
_MOST_ACCENTS = 0.3


def decode(data: bytes) -> str:
    """The text in the bytes; ValueError says why there is none."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return holdable(data.decode(encoding))
    if b"\0" in data or len(_CONTROL.findall(data)) > _MOST_CONTROLS * len(data):
        raise ValueError("it is not text")
    try:
        return holdable(data.decode())
    except UnicodeDecodeError:
        return holdable(_western(data))


def holdable(text: str) -> str:
    """The text with one kind of line end, and a sign in place of what no file could hold."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii() and "\0" not in text:
        return text
    return _UNHOLDABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _western(data: bytes) -> str:
    """Text of Western Europe; other scripts in old encodings would come out as a row of accents."""
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        raise ValueError("its encoding is unknown; save it as UTF-8") from None
    foreign = sum(1 for char in text if char > "\x7f")
    if foreign > _MOST_ACCENTS * sum(1 for char in text if char.isalpha() or char > "\x7f"):
        raise ValueError("its encoding is unknown; save it as UTF-8")
    return text
