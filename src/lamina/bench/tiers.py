"""What a PrecisionMemBench case expects of the three tiers of an answer, and whether they hold it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Tiers:
    """What came back: pinned facts, relevant beliefs best first, and open questions."""

    pinned: tuple[str, ...] = ()
    relevant: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()

    def within(self, room: int | None) -> Tiers:
        """As much as there is room for; pinned facts go first."""
        if room is None:
            return self
        return Tiers(self.pinned[:room], self.relevant[: max(0, room - len(self.pinned))], self.questions)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one tier must hold and must not."""

    include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    before: tuple[tuple[str, str], ...] = ()
    least: int = 0
    most: int | None = None

    @classmethod
    def parsed(cls, data: Mapping[str, Any]) -> Bounds:
        """As the file has it; a wish (`shouldInclude`) counts as much as a must."""
        only = data.get("shouldOnlyInclude")
        return cls(
            frozenset((*data.get("mustInclude", ()), *data.get("shouldInclude", ()))),
            frozenset(data.get("mustExclude", ())),
            None if only is None else frozenset(only),
            tuple((one, other) for one, other in data.get("orderedBefore", ())),
            data.get("minCount", 0),
            data.get("maxCount"),
        )


@dataclass(frozen=True, slots=True)
class Expected:
    """What a case expects of each tier; of the persona nothing, since a memory has none."""

    pinned: Bounds
    relevant: Bounds
    questions: Bounds

    @classmethod
    def parsed(cls, data: Mapping[str, Any]) -> Expected:
        """As the file has it."""
        return cls(*(Bounds.parsed(data.get(name, {})) for name in ("pinnedFacts", "relevantBeliefs", "openQuestions")))

    @property
    def wanted(self) -> frozenset[str] | None:
        """The relevant beliefs that precision and recall are measured by."""
        return self.relevant.only if self.relevant.only is not None else self.relevant.include or None

    @property
    def active(self) -> bool:
        """Whether something must be found and nothing else may: a store that returns nothing cannot pass."""
        return bool(self.relevant.only)

    def faults(self, tiers: Tiers) -> list[str]:
        """What does not hold, in words; nothing means that the case is passed."""
        return [
            *_astray("pinned", self.pinned, tiers.pinned, tiers.pinned),
            *_astray("relevant", self.relevant, tiers.relevant, (*tiers.pinned, *tiers.relevant)),
            *_astray("questions", self.questions, tiers.questions, tiers.questions),
        ]

    def precision(self, tiers: Tiers) -> float | None:
        """The share of the relevant tier that is wanted; None where nothing is wanted and nothing came."""
        if not self.wanted and not tiers.relevant:
            return None
        return len((self.wanted or frozenset()) & set(tiers.relevant)) / max(1, len(tiers.relevant))

    def recall(self, tiers: Tiers) -> float | None:
        """The share of what is wanted that came; None where nothing is wanted."""
        if not self.wanted:
            return None
        return len(self.wanted & set(tiers.relevant)) / len(self.wanted)


def _astray(name: str, bounds: Bounds, tier: Sequence[str], also: Sequence[str]) -> Iterator[str]:
    """`also` is where what must be there may stand, and what must not be there may not."""
    found = set(tier)
    yield from (f"{name} lacks {each}" for each in sorted(bounds.include - set(also)))
    yield from (f"{name} shows {each}" for each in sorted(bounds.exclude & set(also)))
    if bounds.only is not None:
        yield from (f"{name} lacks {each}" for each in sorted(bounds.only - found))
        yield from (f"{name} also shows {each}" for each in sorted(found - bounds.only))
    for one, other in bounds.before:
        if one not in found or other not in found or tier.index(one) > tier.index(other):
            yield f"{name} does not show {one} before {other}"
    if len(tier) < bounds.least or (bounds.most is not None and len(tier) > bounds.most):
        yield f"{name} shows {len(tier)}"
