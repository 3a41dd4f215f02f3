"""Decode the bytes of text files: UTF-8 by default, UTF-16 and Windows-1252 where needed, and never garbage."""

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
_CONTROL = bytes({*range(0x20), 0x7F} - {*b"\t\n\v\f\r\x1b"})
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MAX_CONTROL_SHARE = 0.01
_MAX_ACCENT_SHARE = 0.3


def decode_text(data: bytes) -> str:
    """Return the text in the bytes; ValueError with the reason if they are not text."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return storable_text(data.decode(encoding))
    if b"\0" in data or len(data) - len(data.translate(None, _CONTROL)) > _MAX_CONTROL_SHARE * len(data):
        raise ValueError("it is not text")
    try:
        return storable_text(data.decode())
    except UnicodeDecodeError:
        return storable_text(_decode_western(data))


def storable_text(text: str) -> str:
    r"""Return the text with `\n` line ends, and U+FFFD instead of characters that no file can store."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if text.isascii() and "\0" not in text:
        return text
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def _decode_western(data: bytes) -> str:
    """Decode Western European text; ValueError for other scripts in old encodings, which would become
    rows of accents.
    """
    try:
        text = data.decode("cp1252")
    except UnicodeDecodeError:
        raise ValueError("its encoding is unknown; save it as UTF-8") from None
    foreign = sum(1 for char in text if char > "\x7f")
    if foreign > _MAX_ACCENT_SHARE * sum(1 for char in text if char.isalpha() or char > "\x7f"):
        raise ValueError("its encoding is unknown; save it as UTF-8")
    return text
