"""Judge the hits of questions about chains of change, and compute the figures over all chains.

Current value: `first` and `top 3`, named in the first hit or the first three; `clean`, and no unflagged hit among the
first five names an earlier value without it; `order`, and nothing unflagged above it names an earlier value. Value at a
date: `top 3` and `clean` in the same way. `linked`: an ended statement names the earlier value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.change_checks import ShownHit

_TOP, _INSPECTED = 3, 5
_FILLERS = frozenset({"the", "a", "an", "of", "project"})
_OUTSIDE_WORDS = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class ChainQuestion:
    """A question, the value that answers it, the other values of the chain, and the date it asks about, if not now."""

    text: str
    gold: str
    others: tuple[str, ...]
    as_of: str | None = None


@dataclass(frozen=True, slots=True)
class ChainVerdict:
    """The verdict on the hits of a question."""

    first: bool
    top3: bool
    clean: bool
    order: bool


@dataclass(frozen=True, slots=True)
class ChainRow:
    """One chain: the question for its current value with its hits, the verdicts, and the earlier values ended."""

    file: str
    chain: str
    question: ChainQuestion
    hits: tuple[ShownHit, ...]
    current: ChainVerdict
    then: ChainVerdict | None
    linked: tuple[bool, ...]


def names_value(text: str, value: str) -> bool:
    """Return whether a text names a value, with or without its articles."""
    words, expected = _normal(text), _normal(value)
    if expected in words:
        return True
    core = " ".join(word for word in expected.split() if word not in _FILLERS)
    return bool(core) and core in words


def judge(question: ChainQuestion, hits: Sequence[ShownHit]) -> ChainVerdict:
    """Judge hits, best first; a hit that names the answer may name other values too."""
    right = next((rank for rank, hit in enumerate(hits) if names_value(hit.text, question.gold)), None)
    if right is None:
        return ChainVerdict(first=False, top3=False, clean=False, order=False)
    plain = [
        rank
        for rank, hit in enumerate(hits)
        if not hit.flagged and any(names_value(hit.text, value) for value in question.others)
    ]
    beside = [rank for rank in plain if rank < _INSPECTED and not names_value(hits[rank].text, question.gold)]
    return ChainVerdict(
        first=right == 0,
        top3=right < _TOP,
        clean=right < _TOP and not beside,
        order=all(rank >= right for rank in plain),
    )


@dataclass(slots=True)
class ChainSheet:
    """All rows of a run."""

    rows: list[ChainRow] = field(default_factory=list)

    def overall(self) -> dict[str, Any]:
        """Return the shares over all chains, in percent."""
        return _figures(self.rows)

    def files(self) -> dict[str, dict[str, Any]]:
        """Return the shares of each file's chains."""
        names = dict.fromkeys(row.file for row in self.rows)
        return {name: _figures([row for row in self.rows if row.file == name]) for name in names}

    def failures(self) -> Iterator[ChainRow]:
        """Yield the chains whose current value is not first, or has an earlier one beside it."""
        return (row for row in self.rows if not (row.current.first and row.current.clean))


def describe_failure(row: ChainRow) -> str:
    """Return a chain whose current value is not first and clean, with its first hits, as text."""
    wrong = [name for name in ("first", "top3", "clean", "order") if not getattr(row.current, name)]
    lines = [
        f"{row.file} {row.chain} [not {', '.join(wrong)}] {row.question.text}",
        f"    expect={row.question.gold!r}",
    ]
    lines += [
        f"    {n}. {'(flagged) ' if hit.flagged else ''}{hit.text}" for n, hit in enumerate(row.hits[:_INSPECTED], 1)
    ]
    return "\n".join(lines)


def percent_bars(files: dict[str, dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    """Return for each file the share of chains whose current value is first, and clean."""
    return {name: {bar: figures["current"][bar] for bar in ("first", "clean")} for name, figures in files.items()}


def _figures(rows: Sequence[ChainRow]) -> dict[str, Any]:
    current, then = [row.current for row in rows], [row.then for row in rows if row.then is not None]
    linked = [is_linked for row in rows for is_linked in row.linked]
    return {
        "current": {
            "n": len(current),
            "first": _share(current, lambda verdict: verdict.first),
            "top 3": _share(current, lambda verdict: verdict.top3),
            "clean": _share(current, lambda verdict: verdict.clean),
            "order": _share(current, lambda verdict: verdict.order),
        },
        "then": {
            "n": len(then),
            "top 3": _share(then, lambda verdict: verdict.top3),
            "clean": _share(then, lambda verdict: verdict.clean),
        },
        "earlier values": {"n": len(linked), "linked": round(100 * sum(linked) / max(1, len(linked)), 1)},
    }


def _share(verdicts: Sequence[ChainVerdict], holds: Callable[[ChainVerdict], bool]) -> float:
    return round(100 * sum(map(holds, verdicts)) / max(1, len(verdicts)), 1)


def _normal(text: str) -> str:
    return _OUTSIDE_WORDS.sub(" ", text.lower()).strip()
