"""Explicit requests to remember a sentence: "remember that …", "please note that …", "for the record, …"."""

from __future__ import annotations

import re
from bisect import bisect_right

from lamina.text.sentences import find_sentences

_REMEMBER_REQUEST = re.compile(
    r"(?:^|(?<=[.!?…\n])\s+|(?<=\n))"
    r"(?:please |pls )?"
    r"(?:remember(?: that|:| this:)|note that|note to self:|for the record[,:]|keep in mind(?: that|:))\s+",
    re.IGNORECASE,
)


def find_remember_requests(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences that a text asks to remember.

    The asking words are not part of them, and questions are left out.
    """
    ends = [end for _, end in find_sentences(text)]
    starts = [match.end() for match in _REMEMBER_REQUEST.finditer(text)]
    spans = [(start, ends[index]) for start in starts if (index := bisect_right(ends, start)) < len(ends)]
    return [(start, end) for start, end in spans if not text[start:end].rstrip().endswith(("?", "？"))]
