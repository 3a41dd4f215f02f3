"""A score taken apart, drawn: a bar for each term, what it adds up to, and what that is multiplied by."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lamina.cli.output import Block, Facts, Line

if TYPE_CHECKING:
    from lamina.recall import Hit

WIDTH = 28
_EIGHTHS = "▏▎▍▌▋▊▉█"


def xray(hit: Hit) -> list[Block]:
    """Every term, weight, word and channel of a hit's score."""
    most = max((abs(value) for _, value in hit.terms), default=0.0) or 1.0
    terms = [
        (name, f"{value:+.6f} {bar(value / most)}") for name, value in sorted(hit.terms, key=lambda each: -each[1])
    ]
    told: list[Block] = [Facts((*terms, ("relevance", f"{hit.relevance:+.6f} = their sum")), indent=6)]
    weights = [(f"× {name}", f"{value:.6f}") for name, value in hit.weights]
    told.append(Facts((*weights, ("score", f"{hit.score:.6f}")), indent=6))
    if hit.words:
        told.append(Line("      words    " + ", ".join(f"“{word}” {value:.4f}" for word, value in hit.words), "dim"))
    if hit.channels:
        found = ", ".join(f"{name} #{rank} ({score:.3f})" for name, rank, score in hit.channels)
        told.append(Line(f"      found by {found}", "dim"))
    for source, name, target, confidence in hit.links:
        told.append(Line(f"      link     {source} {name} {target} ({confidence:g})", "dim"))
    for atom_id, passage in hit.folded:
        told.append(Line(f"      says the same: {atom_id} p{passage}", "dim"))
    return told


def bar(share: float) -> str:
    """A share of the longest bar, to an eighth of a character; a negative one is drawn hollow."""
    eighths = round(abs(share) * WIDTH * 8)
    full, rest = divmod(eighths, 8)
    if share < 0:
        return "░" * max(1, full)
    return "█" * full + (_EIGHTHS[rest - 1] if rest else "")
