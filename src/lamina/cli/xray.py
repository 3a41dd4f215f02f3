"""Explains a score as text: a bar for each term, their sum, and the weights it is multiplied by."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap
from typing import TYPE_CHECKING

from lamina.atom.identity import is_atom_id
from lamina.cli.output import Block, Facts, Line

if TYPE_CHECKING:
    from lamina.recall import Hit

WIDTH = 28
COLUMNS = 80
SHORT = 8
INDENT = 6
A_ROW = 4
"""Weights per line."""
_EIGHTHS = "▏▎▍▌▋▊▉█"
_GLUE = "\x1f"
"""Placeholder for a space at which no line is broken."""


def xray(hit: Hit) -> list[Block]:
    """Return every term, weight, word, channel and link of a hit's score as blocks."""
    largest = max((abs(value) for _, value in hit.terms), default=0.0) or 1.0
    terms = [
        (name, f"{value:+.6f} {bar(value / largest)}") for name, value in sorted(hit.terms, key=lambda term: -term[1])
    ]
    sums = [("relevance", f"{hit.relevance:+.6f} = their sum, at least 0")]
    if hit.weights:
        weights = [f"{name} {value:.6g}" for name, value in hit.weights]
        rows = [" × ".join(weights[start : start + A_ROW]) for start in range(0, len(weights), A_ROW)]
        sums += [("weights", rows[0]), *(("", f"× {row}") for row in rows[1:])]
        sums.append(("score", f"{hit.score:+.6f} = relevance × weights"))
    return [
        Facts((*terms, *sums), indent=INDENT),
        *_listed("words", (f"“{word}” {value:.4f}" for word, value in hit.words)),
        *_listed("found by", (f"{name} #{rank} ({score:.3f})" for name, rank, score in hit.channels)),
        *_listed("links", map(_link, hit.links)),
        *_listed("the same", (f"{atom_id[-SHORT:]} p{passage}" for atom_id, passage in hit.folded)),
        *_listed("instead of", _instead(hit)),
        *_listed("kept in", [str(hit.coarse)] if hit.coarse else []),
        *_listed("before", (f"{earlier.atom_id[-SHORT:]} ({earlier.why})" for earlier in hit.before)),
    ]


def _listed(name: str, things: Iterable[str]) -> list[Block]:
    """Return items after a name, wrapped to lines; nothing if there are no items."""
    text = ", ".join(thing.replace(" ", _GLUE) for thing in things)
    first_indent, next_indent = f"{'':{INDENT}}{name:<9}  ", " " * (INDENT + 11)
    lines = wrap(text, COLUMNS, initial_indent=first_indent, subsequent_indent=next_indent, break_long_words=False)
    return [Line(line.replace(_GLUE, " "), "dim") for line in lines]


def _link(link: tuple[str, str, str, float]) -> str:
    source, name, target, confidence = link
    return f"{_end(source)} {name} {_end(target)} ({confidence:g})"


def _instead(hit: Hit) -> list[str]:
    """Return the passage whose score and place this hit took; empty if there is none."""
    replaced = hit.instead_of
    return [f"{replaced.atom_id[-SHORT:]} p{replaced.n} ({replaced.why}), whose score it has"] if replaced else []


def _end(node: str) -> str:
    """Return the end of an atom's id; the name of a subject, an entity or a session."""
    return node[-SHORT:] if is_atom_id(node) else node


def bar(share: float) -> str:
    """Draw a share of the longest bar, to an eighth of a character; a negative share is drawn hollow."""
    eighths = round(abs(share) * WIDTH * 8)
    full, rest = divmod(eighths, 8)
    if share < 0:
        return "░" * max(1, full)
    return "█" * full + (_EIGHTHS[rest - 1] if rest else "")
