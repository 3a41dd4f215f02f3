"""Text that nobody sees: characters that carry words or turn them around without showing. Told apart, never dropped.

Joiners inside an emoji or a script that needs them, the tags of a flag, and direction marks beside right-to-left
letters belong to what is seen.
"""

from __future__ import annotations

import re

HIDDEN = "hidden text"
"""The tag of words that hold some of it."""

_BELONGS = re.compile(
    "\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f"
    "|(?<=[^\x00-\x7f\u200b-\u200f\ufe0f])[\u200c\u200d](?=[^\x00-\x7f\u200b-\u200f])"
    "|(?<=\ufe0f)\u200d(?=[^\x00-\x7f\u200b-\u200f])"
    "|(?<=[\u0590-\u08ff])[\u200e\u200f\u061c]|[\u200e\u200f\u061c](?=[\u0590-\u08ff])"
)
_UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a]"
)


def is_hidden(text: str) -> bool:
    """Whether some of the text cannot be seen."""
    return not text.isascii() and bool(_unseen(text))


def escaped(text: str) -> str:
    """The text with every character that cannot be seen written out, as `<U+200B>`."""
    if text.isascii():
        return text
    for at in reversed(_unseen(text)):
        text = f"{text[:at]}<U+{ord(text[at]):04X}>{text[at + 1 :]}"
    return text


def only_seen(text: str) -> str:
    """The text without the characters that cannot be seen."""
    places = frozenset(_unseen(text)) if not text.isascii() else frozenset()
    return "".join(char for at, char in enumerate(text) if at not in places) if places else text


def _unseen(text: str) -> list[int]:
    kept = {at for found in _BELONGS.finditer(text) for at in range(*found.span())}
    return [found.start() for found in _UNSEEN.finditer(text) if found.start() not in kept]
