"""How a check of a change scenario is judged: three readings of the same hits, and their means.

Strict: the old value is nowhere. Primary: the very sentence that made the change may name it. Lenient: so may a hit
that is shown as superseded, stale, disputed or historical. The rules are those of the file's README.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

READINGS = ("strict", "primary", "lenient")


@dataclass(frozen=True, slots=True)
class Shown:
    """A hit as its reader sees it."""

    text: str
    flagged: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a check holds, in each reading."""

    strict: bool
    primary: bool
    lenient: bool

    def also(self, other: Verdict) -> Verdict:
        """Holds where both hold."""
        return Verdict(self.strict and other.strict, self.primary and other.primary, self.lenient and other.lenient)


@dataclass(frozen=True, slots=True)
class Check:
    """What a question's hits must and must not show."""

    id: str
    type: str
    rule: str
    tier: str
    query: str
    expect: tuple[str, ...]
    expect_any: tuple[str, ...]
    expect_k: int
    reject: tuple[str, ...]
    reject_k: int
    flag: tuple[str, ...]
    strict: bool
    requires: str | None

    @classmethod
    def parsed(cls, data: Mapping[str, Any]) -> Check:
        """As the file has it."""
        return cls(
            id=data["id"],
            type=data["type"],
            rule=data["rule"],
            tier=data["tier"],
            query=data["query"],
            expect=tuple(data.get("expect", ())),
            expect_any=tuple(data.get("expect_any", ())),
            expect_k=data["expect_k"],
            reject=tuple(data.get("reject", ())),
            reject_k=data["reject_k"],
            flag=tuple(data.get("flag", ())),
            strict=bool(data.get("strict")),
            requires=data.get("requires"),
        )

    @property
    def k(self) -> int:
        """How many hits it looks at."""
        return max(self.expect_k, self.reject_k)

    def judge(self, hits: Sequence[Shown]) -> Verdict:
        """Whether the hits, best first, hold what they should."""
        wanted = self._expected(hits)
        match self.rule:
            case "flag":
                return _alike(all(hit.flagged for hit in hits[: self.reject_k] if _names(hit, self.flag)))
            case "order":
                return self._in_order(hits, wanted)
        bad = [hit for hit in hits[: self.reject_k] if _names(hit, self.reject)]
        if self.strict:
            return _alike(wanted and not bad)
        stale = [hit for hit in bad if not _names(hit, (*self.expect, *self.expect_any))]
        return Verdict(wanted and not bad, wanted and not stale, wanted and all(hit.flagged for hit in stale))

    def _expected(self, hits: Sequence[Shown]) -> bool:
        near = [hit for hit in hits[: self.expect_k] if self.rule == "as_of" or not hit.flagged]
        every = all(any(_names(hit, (each,)) for hit in near) for each in self.expect)
        return every and (not self.expect_any or any(_names(hit, self.expect_any) for hit in near))

    def _in_order(self, hits: Sequence[Shown], wanted: bool) -> Verdict:
        first = [n for n, hit in enumerate(hits[: self.expect_k]) if not hit.flagged and _names(hit, self.expect)]
        stale = [n for n, hit in enumerate(hits[: self.reject_k]) if _names(hit, self.reject)]
        before = wanted and (not stale or first[:1] < stale[:1])
        return Verdict(wanted and not stale, before, before)


@dataclass(frozen=True, slots=True)
class Row:
    """A check of a scenario, what was shown and how it was judged."""

    scenario: str
    check: Check
    shown: tuple[Shown, ...]
    verdict: Verdict


@dataclass(slots=True)
class Sheet:
    """All rows of a run, and the means over them; only the core tier counts."""

    rows: list[Row] = field(default_factory=list)

    def add(self, scenario: str, check: Check, shown: Sequence[Shown], before: Mapping[str, Verdict]) -> Verdict:
        """Judge a check; one that requires another holds only where that one held too."""
        verdict = check.judge(shown)
        if check.requires is not None and check.requires in before:
            verdict = verdict.also(before[check.requires])
        self.rows.append(Row(scenario, check, tuple(shown), verdict))
        return verdict

    def overall(self) -> dict[str, Any]:
        """The mean over the types, over the checks, the scenarios that hold throughout, and each type."""
        return {
            "macro": {reading: self._macro(reading) for reading in READINGS},
            "micro": {reading: _percent(self._core(reading, lambda row: "").values()) for reading in READINGS},
            "scenarios": {reading: self._whole(reading) for reading in READINGS},
            "types": self.types(),
            "hard_primary": self._hard(),
        }

    def types(self) -> dict[str, dict[str, float]]:
        """The share of each type's checks that hold, in each reading, and how many checks there are."""
        shares = {reading: self._core(reading, lambda row: row.check.type) for reading in READINGS}
        return {
            each: {"n": len(held), **{reading: _percent([shares[reading][each]]) for reading in READINGS}}
            for each, held in sorted(shares["primary"].items())
        }

    def failures(self) -> Iterator[Row]:
        """What does not hold in the primary reading, gates included."""
        return (row for row in self.rows if not row.verdict.primary)

    def _core(self, reading: str, name: Callable[[Row], str]) -> dict[str, list[bool]]:
        held: dict[str, list[bool]] = defaultdict(list)
        for row in self.rows:
            if row.check.tier == "core":
                held[name(row)].append(getattr(row.verdict, reading))
        return held

    def _macro(self, reading: str) -> float:
        types = self._core(reading, lambda row: row.check.type).values()
        return round(100 * sum(sum(held) / len(held) for held in types) / max(len(types), 1), 1)

    def _whole(self, reading: str) -> float:
        return _percent([[all(held) for held in self._core(reading, lambda row: row.scenario).values()]])

    def _hard(self) -> str:
        held = [row.verdict.primary for row in self.rows if row.check.tier == "hard"]
        return f"{sum(held)}/{len(held)}"


def _percent(groups: Iterable[Sequence[bool]]) -> float:
    held = [each for group in groups for each in group]
    return round(100 * sum(held) / max(len(held), 1), 1)


def _alike(holds: bool) -> Verdict:
    return Verdict(holds, holds, holds)


def _names(hit: Shown, values: Iterable[str]) -> bool:
    """Whether a hit's text names one of the values, as whole words."""
    text = _plain(hit.text)
    return any(re.search(rf"(?<!\w){re.escape(_plain(value))}(?!\w)", text) for value in values)


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).replace("\u2019", "'").casefold()
    return re.sub(r"\s+", " ", folded).strip()
