"""Files written for people and partly by them: what is generated stands between two marks, the rest is theirs."""

from __future__ import annotations

from collections.abc import Mapping

BEGIN, END = "<!-- lamina: begin -->", "<!-- lamina: end -->"
PROFILE, IDENTITY = "profile", "identity"
PAGE = "page"
"""Metadata of the pages of which a scope has one each, and which stand at the root of its folder."""
_SINGLE = frozenset({PROFILE, IDENTITY})


def single_page(metadata: Mapping[str, str]) -> str | None:
    """Which of the pages that a scope has once this is; None for any other."""
    name = metadata.get(PAGE)
    return name if name in _SINGLE else None


def own_words(content: str) -> str:
    """What a person wrote: everything outside the marks."""
    before, begin, rest = content.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{after}".strip() if begin and end else content.strip()


def is_page(content: str) -> bool:
    """Whether a text has a generated part."""
    begin = content.find(BEGIN)
    return begin >= 0 and content.find(END, begin) >= 0


def with_generated(content: str, generated: str) -> str:
    """The text with its generated part made anew; a text without one gets it at its end.

    Words that look like the marks are written so that they end nothing: what others said never becomes a person's own.
    """
    inner = generated.replace("<!--", "<! --").strip()
    part = f"{BEGIN}\n{inner}\n{END}"
    if not is_page(content):
        return f"{content.rstrip()}\n\n{part}".lstrip()
    before, _, rest = content.partition(BEGIN)
    return f"{before}{part}{rest.partition(END)[2]}"


def generated_part(content: str) -> str:
    """What stands between the marks."""
    return content.partition(BEGIN)[2].partition(END)[0].strip() if is_page(content) else ""


def with_own_words(content: str, words: str) -> str:
    """The text with more of a person's words at its end, unless it has them."""
    return content if words.strip() in own_words(content) else f"{content.rstrip()}\n\n{words.strip()}"
