"""Files written for people and partly by them: what is generated stands between two marks, the rest is theirs."""

from __future__ import annotations

BEGIN, END = "<!-- lamina: begin -->", "<!-- lamina: end -->"


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
    """The text with its generated part made anew; a text without one gets it at its end."""
    part = f"{BEGIN}\n{generated.strip()}\n{END}"
    if not is_page(content):
        return f"{content.rstrip()}\n\n{part}".lstrip()
    before, _, rest = content.partition(BEGIN)
    return f"{before}{part}{rest.partition(END)[2]}"
