"""Find hidden characters: those that carry text or reverse it without being visible. They are marked, never dropped.

Joiners inside an emoji or a script that needs them, the tags of a flag, and direction marks beside right-to-left
letters count as visible.
"""

from __future__ import annotations

import re

HIDDEN_TEXT_TAG = "hidden text"
"""The tag of a text that contains hidden characters."""

_VISIBLE_USES = re.compile(
    "\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f"
    "|(?<=[^\x00-\x7f\u200b-\u200f\ufe0f])[\u200c\u200d](?=[^\x00-\x7f\u200b-\u200f])"
    "|(?<=\ufe0f)\u200d(?=[^\x00-\x7f\u200b-\u200f])"
    "|(?<=[\u0590-\u08ff])[\u200e\u200f\u061c]|[\u200e\u200f\u061c](?=[\u0590-\u08ff])"
)
_HIDDEN_CHARACTERS = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a]"
)
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def has_hidden_text(text: str) -> bool:
    """Return whether a text contains hidden characters."""
    return not text.isascii() and bool(_find_hidden(text))


def escape_hidden(text: str) -> str:
    """Return the text with every hidden character written out, as `<U+200B>`."""
    if text.isascii():
        return text
    for position in reversed(_find_hidden(text)):
        text = f"{text[:position]}<U+{ord(text[position]):04X}>{text[position + 1 :]}"
    return text


def escape_unprintable(text: str) -> str:
    """Return the text with its control characters replaced, and its hidden characters written out."""
    return escape_hidden(_CONTROL_CHARACTERS.sub("\N{REPLACEMENT CHARACTER}", text))


def remove_hidden(text: str) -> str:
    """Return the text without its hidden characters."""
    positions = frozenset(_find_hidden(text)) if not text.isascii() else frozenset()
    return "".join(char for position, char in enumerate(text) if position not in positions) if positions else text


def _find_hidden(text: str) -> list[int]:
    visible = {position for match in _VISIBLE_USES.finditer(text) for position in range(*match.span())}
    return [match.start() for match in _HIDDEN_CHARACTERS.finditer(text) if match.start() not in visible]
