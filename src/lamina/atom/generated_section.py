"""Handle texts that are partly generated and partly written by people: the generated section is between two marker
lines."""

from __future__ import annotations

from collections.abc import Callable

from lamina.atom.metadata import Metadata

SECTION_BEGIN, SECTION_END = "<!-- lamina: begin -->", "<!-- lamina: end -->"
PROFILE_PAGE, IDENTITY_PAGE, TOPICS_PAGE, GUIDELINES_PAGE = "profile", "identity", "topics", "guidelines"
PAGE_KEY = "page"
"""The metadata key of a page that a scope has only once, at the root of its folder."""
_ROOT_PAGES = frozenset({PROFILE_PAGE, IDENTITY_PAGE, TOPICS_PAGE, GUIDELINES_PAGE})


def root_page_name(metadata: Metadata) -> str | None:
    """Return the name of the root page that the metadata describes; None for any other atom."""
    name = metadata.get(PAGE_KEY)
    return name if name in _ROOT_PAGES else None


def extract_user_text(content: str) -> str:
    """Return the text that people wrote: everything outside the generated section."""
    before, begin, rest = content.partition(SECTION_BEGIN)
    _, end, after = rest.partition(SECTION_END)
    return f"{before}{after}".strip() if begin and end else content.strip()


def has_generated_section(content: str) -> bool:
    """Return whether a text has a generated section."""
    begin = content.find(SECTION_BEGIN)
    return begin >= 0 and content.find(SECTION_END, begin) >= 0


def replace_generated_section(content: str, generated: str) -> str:
    """Return the text with its generated section replaced; a text without one gets it at its end.

    Markers inside the generated text are escaped, so that they cannot end the section: generated text never becomes
    user text.
    """
    inner = generated.replace("<!--", "<! --").strip()
    section = f"{SECTION_BEGIN}\n{inner}\n{SECTION_END}"
    if not has_generated_section(content):
        return f"{content.rstrip()}\n\n{section}".lstrip()
    before, _, rest = content.partition(SECTION_BEGIN)
    return f"{before}{section}{rest.partition(SECTION_END)[2]}"


def extract_generated_section(content: str) -> str:
    """Return the text between the markers."""
    return (
        content.partition(SECTION_BEGIN)[2].partition(SECTION_END)[0].strip() if has_generated_section(content) else ""
    )


def change_generated_section(content: str, change: Callable[[str], str]) -> str:
    """Return the text with the lines between its markers changed; user text stays as it is."""
    if not has_generated_section(content):
        return content
    before, begin, rest = content.partition(SECTION_BEGIN)
    generated, end, after = rest.partition(SECTION_END)
    return f"{before}{begin}{change(generated)}{end}{after}"


def append_user_text(content: str, text: str) -> str:
    """Return the content with user text added at its end, unless it contains that text."""
    return content if text.strip() in extract_user_text(content) else f"{content.rstrip()}\n\n{text.strip()}"
