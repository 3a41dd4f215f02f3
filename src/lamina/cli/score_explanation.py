"""Explains a score as text: a bar for each term, their sum, and the weights it is multiplied by."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap
from typing import TYPE_CHECKING

from lamina.atom.identity import is_atom_id
from lamina.cli.output import FieldList, OutputBlock, TextLine

if TYPE_CHECKING:
    from lamina.recall import Hit

BAR_WIDTH = 28
LINE_WIDTH = 80
SHORT_ID_LENGTH = 8
INDENT = 6
WEIGHTS_PER_ROW = 4
"""Weights per line."""
_EIGHTHS = "▏▎▍▌▋▊▉█"
_NO_BREAK = "\x1f"
"""Placeholder for a space at which no line is broken."""


def explain_score(hit: Hit) -> list[OutputBlock]:
    """Return every term, weight, word, channel and link of a hit's score as blocks."""
    largest = max((abs(value) for _, value in hit.terms), default=0.0) or 1.0
    terms = [
        (name, f"{value:+.6f} {draw_bar(value / largest)}")
        for name, value in sorted(hit.terms, key=lambda term: -term[1])
    ]
    sums = [("relevance", f"{hit.relevance:+.6f} = their sum, at least 0")]
    if hit.weights:
        weights = [f"{name} {value:.6g}" for name, value in hit.weights]
        rows = [
            " × ".join(weights[start : start + WEIGHTS_PER_ROW]) for start in range(0, len(weights), WEIGHTS_PER_ROW)
        ]
        sums += [("weights", rows[0]), *(("", f"× {row}") for row in rows[1:])]
        sums.append(("score", f"{hit.score:+.6f} = relevance × weights"))
    return [
        FieldList((*terms, *sums), indent=INDENT),
        *_wrap_items("words", (f"“{word}” {value:.4f}" for word, value in hit.words)),
        *_wrap_items("found by", (f"{name} #{rank} ({score:.3f})" for name, rank, score in hit.channels)),
        *_wrap_items("links", map(_format_link, hit.links)),
        *_wrap_items("the same", (f"{atom_id[-SHORT_ID_LENGTH:]} p{passage}" for atom_id, passage in hit.folded)),
        *_wrap_items("instead of", _replaced_passage(hit)),
        *_wrap_items("kept in", [str(hit.precision)] if hit.precision else []),
        *_wrap_items("before", (f"{earlier.atom_id[-SHORT_ID_LENGTH:]} ({earlier.reason})" for earlier in hit.before)),
    ]


def _wrap_items(name: str, items: Iterable[str]) -> list[OutputBlock]:
    """Return items after a name, wrapped to lines; nothing if there are no items."""
    text = ", ".join(thing.replace(" ", _NO_BREAK) for thing in items)
    first_indent, next_indent = f"{'':{INDENT}}{name:<9}  ", " " * (INDENT + 11)
    lines = wrap(text, LINE_WIDTH, initial_indent=first_indent, subsequent_indent=next_indent, break_long_words=False)
    return [TextLine(line.replace(_NO_BREAK, " "), "dim") for line in lines]


def _format_link(link: tuple[str, str, str, float]) -> str:
    source, name, target, confidence = link
    return f"{_short_node(source)} {name} {_short_node(target)} ({confidence:g})"


def _replaced_passage(hit: Hit) -> list[str]:
    """Return the passage whose score and place this hit took; empty if there is none."""
    replaced = hit.instead_of
    return (
        [f"{replaced.atom_id[-SHORT_ID_LENGTH:]} p{replaced.n} ({replaced.reason}), whose score it has"]
        if replaced
        else []
    )


def _short_node(node: str) -> str:
    """Return the end of an atom's id; the name of a subject, an entity or a session."""
    return node[-SHORT_ID_LENGTH:] if is_atom_id(node) else node


def draw_bar(share: float) -> str:
    """Draw a share of the longest bar, to an eighth of a character; a negative share is drawn hollow."""
    eighths = round(abs(share) * BAR_WIDTH * 8)
    full, rest = divmod(eighths, 8)
    if share < 0:
        return "░" * max(1, full)
    return "█" * full + (_EIGHTHS[rest - 1] if rest else "")
