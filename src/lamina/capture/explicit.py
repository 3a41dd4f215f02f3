"""What somebody asks for by name: "remember that …", "please remember: …", "for the record, …"."""

from __future__ import annotations

import re

_ASKED = re.compile(
    r"(?:^|(?<=[.!?\n] )|(?<=\n))"
    r"(?:please |pls )?"
    r"(?:remember(?: that|:| this:)|note that|note to self:|for the record[,:]|keep in mind(?: that|:))\s+",
    re.IGNORECASE,
)
_END = re.compile(r"(?<=[.!?…])(?=\s|$)|\n|$")


def asked_for(text: str) -> list[tuple[int, int]]:
    """The spans of the sentences somebody asked to have remembered, without the asking."""
    spans = []
    for asked in _ASKED.finditer(text):
        end = _END.search(text, asked.end())
        stop = end.start() if end else len(text)
        if text[asked.end() : stop].strip():
            spans.append((asked.end(), stop))
    return spans
