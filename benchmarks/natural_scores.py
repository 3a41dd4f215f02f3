"""Judge the hits of a question about natural talk, and compute the figures over all questions.

Questions with an answer (changed, stable, near, history): `first` and `top 3`, an expected value in the first hit or
the first three; `outdated`, among the first three an unmarked hit with a rejected value and no expected one is above
the first expected one or without it; `silent`, no hit is relevant; `hidden`, no expected value among the first ten.
Questions about what was never said (unknown): `answered`, a hit is relevant. About what should be forgotten (gone):
`shown`, a rejected value in any hit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.natural_data import ANSWERED, KINDS, TalkCheck
from benchmarks.natural_links import LinkTally
from lamina import Receipt
from lamina.capture.receipt import ModelCounts

DEPTH = 10
"""How many hits are asked for."""
_TOP = 3
_FAILURES = frozenset({"outdated", "silent", "hidden", "answered", "shown"})


@dataclass(frozen=True, slots=True)
class RankedHit:
    """A hit as its reader sees it; `is_marked` if anything is said of it, such as that it is outdated."""

    text: str
    is_marked: bool = False
    is_relevant: bool = True


@dataclass(frozen=True, slots=True)
class TalkRow:
    """A question about one person's talk, its hits and how they were judged."""

    person: str
    check: TalkCheck
    hits: tuple[RankedHit, ...]
    verdict: dict[str, bool]

    @property
    def is_failure(self) -> bool:
        """Return whether a reader of the hits is left with a wrong answer or none."""
        return not self.verdict.get("first", True) or any(self.verdict.get(name, False) for name in _FAILURES)


def judge(check: TalkCheck, hits: Sequence[RankedHit]) -> dict[str, bool]:
    """Return whether each figure of the check's kind counts for these hits, best first."""
    if check.kind == "unknown":
        return {"answered": any(hit.is_relevant for hit in hits)}
    if check.kind == "gone":
        return {"shown": any(_names(hit, check.reject) for hit in hits)}
    top = hits[:_TOP]
    right = [rank for rank, hit in enumerate(top) if _names(hit, check.expect)]
    wrong = [
        rank for rank, hit in enumerate(top) if rank not in right and _names(hit, check.reject) and not hit.is_marked
    ]
    return {
        "first": right[:1] == [0],
        "top 3": bool(right),
        "outdated": bool(wrong) and (not right or wrong[0] < right[0]),
        "silent": not any(hit.is_relevant for hit in hits),
        "hidden": not any(_names(hit, check.expect) for hit in hits[:DEPTH]),
    }


@dataclass(slots=True)
class TalkSheet:
    """All rows of a run, the links of each person who has labels, and what a chat model contributed."""

    rows: list[TalkRow] = field(default_factory=list)
    links: dict[str, LinkTally] = field(default_factory=dict)
    chat: ModelCounts | None = None

    def count_chat(self, receipts: Iterable[Receipt]) -> None:
        """Add what a chat model contributed to these receipts."""
        for receipt in receipts:
            if receipt.counts is not None:
                self.chat = self.chat + receipt.counts if self.chat else receipt.counts

    def overall(self) -> dict[str, Any]:
        """Return the counts of all people together, their links as one set, and the chat model's counts."""
        figures = _figures(self.rows, list(self.links.values()))
        return figures | {"chat model": _chat_figures(self.chat)} if self.chat else figures

    def people(self) -> dict[str, dict[str, Any]]:
        """Return the counts of each person."""
        rows: dict[str, list[TalkRow]] = defaultdict(list)
        for row in self.rows:
            rows[row.person].append(row)
        return {
            id: _figures(person_rows, [self.links[id]] if id in self.links else []) for id, person_rows in rows.items()
        }

    def failures(self) -> Iterator[TalkRow]:
        """Yield the rows whose hits give a wrong answer first, or none."""
        return (row for row in self.rows if row.is_failure)


def describe_failure(row: TalkRow) -> str:
    """Return a failed check and its hits as text; `*` is a relevant hit, `(marked)` one that is marked."""
    check = row.check
    wrong = [name for name in row.verdict if row.verdict[name] == (name in _FAILURES)]
    question = f"{check.query} (as of {check.as_of})" if check.as_of else check.query
    lines = [f"{row.person} [{check.kind}: {', '.join(_described(wrong))}] {question}"]
    lines.append(f"    expect={list(check.expect)} reject={list(check.reject)}")
    for hit in row.hits[:_TOP]:
        text = " / ".join(hit.text.splitlines())
        lines.append(f"    {'*' if hit.is_relevant else '-'} {'(marked) ' if hit.is_marked else ''}{text}")
    return "\n".join(lines)


def _described(names: Iterable[str]) -> Iterator[str]:
    return (name if name in _FAILURES else f"not {name}" for name in names)


def _figures(rows: Sequence[TalkRow], links: Sequence[LinkTally]) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for kind in KINDS:
        verdicts = [row.verdict for row in rows if row.check.kind == kind]
        if verdicts:
            sums = {name: sum(verdict[name] for verdict in verdicts) for name in verdicts[0]}
            figures[kind] = {"n": len(verdicts), **sums}
    if links:
        tally = LinkTally()
        for person_links in links:
            tally.add(person_links)
        figures |= tally.figures()
    return figures


def _chat_figures(counts: ModelCounts) -> dict[str, int]:
    return {
        "calls": counts.calls,
        "failed": len(counts.failures),
        "statements": counts.kept,
        "unsupported": counts.unsupported,
        "skipped": counts.skipped,
        "pairs": counts.pairs,
        "likely": counts.likely,
        "sure": counts.sure,
    }


def _names(hit: RankedHit, values: Iterable[str]) -> bool:
    text = f" {hit.text.lower()} "
    return any(value in text for value in values)


def percent_bars(overall: dict[str, dict[str, int]]) -> dict[str, dict[str, float]]:
    """Return for each kind of answered question the share that is first and the share that is outdated, in percent."""
    return {
        kind: {name: 100 * overall[kind][name] / overall[kind]["n"] for name in ("first", "outdated")}
        for kind in ANSWERED
        if kind in overall
    }
