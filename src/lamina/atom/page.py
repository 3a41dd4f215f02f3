"""Handle texts that are partly generated and partly written by people: the generated section is between two marker
lines."""

from __future__ import annotations

from collections.abc import Mapping

BEGIN, END = "<!-- lamina: begin -->", "<!-- lamina: end -->"
PROFILE, IDENTITY = "profile", "identity"
PAGE = "page"
"""The metadata key of a page that a scope has only once, at the root of its folder."""
_SINGLE = frozenset({PROFILE, IDENTITY})


def single_page(metadata: Mapping[str, str]) -> str | None:
    """Return the name of the root page that the metadata describes; None for any other atom."""
    name = metadata.get(PAGE)
    return name if name in _SINGLE else None


def own_words(content: str) -> str:
    """Return the text that people wrote: everything outside the generated section."""
    before, begin, rest = content.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{after}".strip() if begin and end else content.strip()


def is_page(content: str) -> bool:
    """Return whether a text has a generated section."""
    begin = content.find(BEGIN)
    return begin >= 0 and content.find(END, begin) >= 0


def with_generated(content: str, generated: str) -> str:
    """Return the text with its generated section replaced; a text without one gets it at its end.

    Markers inside the generated text are escaped, so that they cannot end the section: generated text never becomes
    user text.
    """
    inner = generated.replace("<!--", "<! --").strip()
    section = f"{BEGIN}\n{inner}\n{END}"
    if not is_page(content):
        return f"{content.rstrip()}\n\n{section}".lstrip()
    before, _, rest = content.partition(BEGIN)
    return f"{before}{section}{rest.partition(END)[2]}"


def generated_part(content: str) -> str:
    """Return the text between the markers."""
    return content.partition(BEGIN)[2].partition(END)[0].strip() if is_page(content) else ""


def with_own_words(content: str, words: str) -> str:
    """Return the content with user text added at its end, unless it contains that text."""
    return content if words.strip() in own_words(content) else f"{content.rstrip()}\n\n{words.strip()}"
