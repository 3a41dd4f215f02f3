"""Judge the checks of a change scenario in three readings of the same hits, and compute their means.

Strict: the old value is nowhere. Primary: the sentence that made the change may name it. Lenient: so may a hit that is
shown as superseded, stale, disputed or historical. The rules are those of the data set's README.
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
class ShownHit:
    """A hit as its reader sees it."""

    text: str
    flagged: bool = False


@dataclass(frozen=True, slots=True)
class CheckVerdict:
    """The verdict of a check, in each reading."""

    strict: bool
    primary: bool
    lenient: bool

    def and_also(self, other: CheckVerdict) -> CheckVerdict:
        """Return the verdict that passes where both pass."""
        return CheckVerdict(
            self.strict and other.strict, self.primary and other.primary, self.lenient and other.lenient
        )


@dataclass(frozen=True, slots=True)
class ChangeCheck:
    """A check: what the hits of a question must and must not show."""

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
    def parse(cls, data: Mapping[str, Any]) -> ChangeCheck:
        """Parse a check of the data file."""
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
        """Return how many hits are inspected."""
        return max(self.expect_k, self.reject_k)

    def judge(self, hits: Sequence[ShownHit]) -> CheckVerdict:
        """Return whether the hits, best first, satisfy the check."""
        has_expected = self._expected(hits)
        match self.rule:
            case "flag":
                return _same_verdict(all(hit.flagged for hit in hits[: self.reject_k] if _names_value(hit, self.flag)))
            case "order":
                return self._in_order(hits, has_expected)
        bad = [hit for hit in hits[: self.reject_k] if _names_value(hit, self.reject)]
        if self.strict:
            return _same_verdict(has_expected and not bad)
        stale = [hit for hit in bad if not _names_value(hit, (*self.expect, *self.expect_any))]
        return CheckVerdict(
            has_expected and not bad, has_expected and not stale, has_expected and all(hit.flagged for hit in stale)
        )

    def _expected(self, hits: Sequence[ShownHit]) -> bool:
        near = [hit for hit in hits[: self.expect_k] if self.rule == "as_of" or not hit.flagged]
        every = all(any(_names_value(hit, (value,)) for hit in near) for value in self.expect)
        return every and (not self.expect_any or any(_names_value(hit, self.expect_any) for hit in near))

    def _in_order(self, hits: Sequence[ShownHit], wanted: bool) -> CheckVerdict:
        first = [n for n, hit in enumerate(hits[: self.expect_k]) if not hit.flagged and _names_value(hit, self.expect)]
        stale = [n for n, hit in enumerate(hits[: self.reject_k]) if _names_value(hit, self.reject)]
        before = wanted and (not stale or first[:1] < stale[:1])
        return CheckVerdict(wanted and not stale, before, before)


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A check of a scenario, its hits and its verdict."""

    scenario: str
    check: ChangeCheck
    shown: tuple[ShownHit, ...]
    verdict: CheckVerdict


@dataclass(slots=True)
class CheckSheet:
    """All rows of a run, and the means over them; only the core tier counts."""

    rows: list[CheckRow] = field(default_factory=list)

    def add(
        self, scenario: str, check: ChangeCheck, shown: Sequence[ShownHit], before: Mapping[str, CheckVerdict]
    ) -> CheckVerdict:
        """Judge a check; one that requires another passes only if that one passed too."""
        verdict = check.judge(shown)
        if check.requires is not None and check.requires in before:
            verdict = verdict.and_also(before[check.requires])
        self.rows.append(CheckRow(scenario, check, tuple(shown), verdict))
        return verdict

    def overall(self) -> dict[str, Any]:
        """Return the mean over the types, over the checks, the scenarios that pass completely, and each type."""
        return {
            "macro": {reading: self._macro(reading) for reading in READINGS},
            "micro": {reading: _percent(self._core(reading, lambda row: "").values()) for reading in READINGS},
            "scenarios": {reading: self._whole(reading) for reading in READINGS},
            "types": self.types(),
            "hard_primary": self._hard(),
        }

    def types(self) -> dict[str, dict[str, float]]:
        """Return the share of each type's checks that pass, in each reading, and how many checks there are."""
        shares = {reading: self._core(reading, lambda row: row.check.type) for reading in READINGS}
        return {
            check_type: {"n": len(passed), **{reading: _percent([shares[reading][check_type]]) for reading in READINGS}}
            for check_type, passed in sorted(shares["primary"].items())
        }

    def failures(self) -> Iterator[CheckRow]:
        """Yield the rows that fail in the primary reading, of all tiers."""
        return (row for row in self.rows if not row.verdict.primary)

    def _core(self, reading: str, name: Callable[[CheckRow], str]) -> dict[str, list[bool]]:
        passed: dict[str, list[bool]] = defaultdict(list)
        for row in self.rows:
            if row.check.tier == "core":
                passed[name(row)].append(getattr(row.verdict, reading))
        return passed

    def _macro(self, reading: str) -> float:
        types = self._core(reading, lambda row: row.check.type).values()
        return round(100 * sum(sum(passed) / len(passed) for passed in types) / max(len(types), 1), 1)

    def _whole(self, reading: str) -> float:
        return _percent([[all(passed) for passed in self._core(reading, lambda row: row.scenario).values()]])

    def _hard(self) -> str:
        passed = [row.verdict.primary for row in self.rows if row.check.tier == "hard"]
        return f"{sum(passed)}/{len(passed)}"


def _percent(groups: Iterable[Sequence[bool]]) -> float:
    passed = [value for group in groups for value in group]
    return round(100 * sum(passed) / max(len(passed), 1), 1)


def _same_verdict(holds: bool) -> CheckVerdict:
    return CheckVerdict(holds, holds, holds)


def _names_value(hit: ShownHit, values: Iterable[str]) -> bool:
    """Return whether a hit's text names one of the values, as whole words."""
    text = _plain(hit.text)
    return any(re.search(rf"(?<!\w){re.escape(_plain(value))}(?!\w)", text) for value in values)


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).replace("\u2019", "'").casefold()
    return re.sub(r"\s+", " ", folded).strip()
