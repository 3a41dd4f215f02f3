"""What somebody asks for by name: "remember that …", "please remember: …", "for the record, …"."""

from __future__ import annotations

import re
from bisect import bisect_right

from lamina.text.sentences import sentences

_ASKED = re.compile(
    r"(?:^|(?<=[.!?…\n])\s+|(?<=\n))"
    r"(?:please |pls )?"
    r"(?:remember(?: that|:| this:)|note that|note to self:|for the record[,:]|keep in mind(?: that|:))\s+",
    re.IGNORECASE,
)


def asked_for(text: str) -> list[tuple[int, int]]:
    """The spans of the sentences somebody asked to have remembered, without the asking; a question asks for no such."""
    ends = [end for _, end in sentences(text)]
    starts = [asked.end() for asked in _ASKED.finditer(text)]
    found = [(start, ends[at]) for start in starts if (at := bisect_right(ends, start)) < len(ends)]
    return [(start, end) for start, end in found if not text[start:end].rstrip().endswith(("?", "？"))]
