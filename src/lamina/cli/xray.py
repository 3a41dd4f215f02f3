"""A score taken apart, drawn: a bar for each term, what it adds up to, and what that is multiplied by."""

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
"""So many weights stand in a row."""
_EIGHTHS = "▏▎▍▌▋▊▉█"
_GLUE = "\x1f"
"""Stands for a space that no line ends at."""


def xray(hit: Hit) -> list[Block]:
    """Every term, weight, word, channel and link of a hit's score."""
    most = max((abs(value) for _, value in hit.terms), default=0.0) or 1.0
    terms = [
        (name, f"{value:+.6f} {bar(value / most)}") for name, value in sorted(hit.terms, key=lambda each: -each[1])
    ]
    sums = [("relevance", f"{hit.relevance:+.6f} = their sum, at least 0")]
    if hit.weights:
        told = [f"{name} {value:.6g}" for name, value in hit.weights]
        rows = [" × ".join(told[start : start + A_ROW]) for start in range(0, len(told), A_ROW)]
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
        *_listed("before", (f"{each.atom_id[-SHORT:]} ({each.why})" for each in hit.before)),
    ]


def _listed(name: str, things: Iterable[str]) -> list[Block]:
    """Things after a name, on as many lines as they need; nothing where there are none."""
    told = ", ".join(thing.replace(" ", _GLUE) for thing in things)
    first, later = f"{'':{INDENT}}{name:<9}  ", " " * (INDENT + 11)
    lines = wrap(told, COLUMNS, initial_indent=first, subsequent_indent=later, break_long_words=False)
    return [Line(line.replace(_GLUE, " "), "dim") for line in lines]


def _link(link: tuple[str, str, str, float]) -> str:
    source, name, target, confidence = link
    return f"{_end(source)} {name} {_end(target)} ({confidence:g})"


def _instead(hit: Hit) -> list[str]:
    """The passage whose score this is."""
    given = hit.instead_of
    return [f"{given.atom_id[-SHORT:]} p{given.n} ({given.why}), whose score it has"] if given else []


def _end(node: str) -> str:
    """An atom by the end of its id; a subject, an entity or a session by its name."""
    return node[-SHORT:] if is_atom_id(node) else node


def bar(share: float) -> str:
    """A share of the longest bar, to an eighth of a character; a negative one is drawn hollow."""
    eighths = round(abs(share) * WIDTH * 8)
    full, rest = divmod(eighths, 8)
    if share < 0:
        return "░" * max(1, full)
    return "█" * full + (_EIGHTHS[rest - 1] if rest else "")
