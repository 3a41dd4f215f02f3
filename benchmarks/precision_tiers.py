"""The expectations of a PrecisionMemBench case on the three tiers of an answer, and whether they are satisfied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class AnswerTiers:
    """An answer: pinned facts, relevant beliefs best first, and open questions."""

    pinned: tuple[str, ...] = ()
    relevant: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()

    def within(self, room: int | None) -> AnswerTiers:
        """Return at most this many beliefs; pinned facts count first."""
        if room is None:
            return self
        return AnswerTiers(self.pinned[:room], self.relevant[: max(0, room - len(self.pinned))], self.questions)


@dataclass(frozen=True, slots=True)
class TierBounds:
    """The atoms that one tier must contain and must not."""

    include: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()
    only: frozenset[str] | None = None
    before: tuple[tuple[str, str], ...] = ()
    least: int = 0
    most: int | None = None

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> TierBounds:
        """Parse the bounds of the data file; `shouldInclude` counts as much as `mustInclude`."""
        only = data.get("shouldOnlyInclude")
        return cls(
            frozenset((*data.get("mustInclude", ()), *data.get("shouldInclude", ()))),
            frozenset(data.get("mustExclude", ())),
            None if only is None else frozenset(only),
            tuple((first, second) for first, second in data.get("orderedBefore", ())),
            data.get("minCount", 0),
            data.get("maxCount"),
        )


@dataclass(frozen=True, slots=True)
class ExpectedTiers:
    """The expectations on each tier; the persona is ignored, because a memory has none."""

    pinned: TierBounds
    relevant: TierBounds
    questions: TierBounds

    @classmethod
    def parse(cls, data: Mapping[str, Any]) -> ExpectedTiers:
        """Parse the expectations of the data file."""
        return cls(
            *(TierBounds.parse(data.get(name, {})) for name in ("pinnedFacts", "relevantBeliefs", "openQuestions"))
        )

    @property
    def expected_relevant(self) -> frozenset[str] | None:
        """Return the relevant beliefs that precision and recall are measured by."""
        return self.relevant.only if self.relevant.only is not None else self.relevant.include or None

    @property
    def needs_hits(self) -> bool:
        """Return whether something must be found and nothing else may: a store that returns nothing cannot pass."""
        return bool(self.relevant.only)

    def faults(self, tiers: AnswerTiers) -> list[str]:
        """Return the faults as text; none means that the case is passed."""
        return [
            *_tier_faults("pinned", self.pinned, tiers.pinned, tiers.pinned),
            *_tier_faults("relevant", self.relevant, tiers.relevant, (*tiers.pinned, *tiers.relevant)),
            *_tier_faults("questions", self.questions, tiers.questions, tiers.questions),
        ]

    def precision(self, tiers: AnswerTiers) -> float | None:
        """Return the share of the relevant tier that is expected; None if nothing is expected and
        nothing was returned.
        """
        if not self.expected_relevant and not tiers.relevant:
            return None
        return len((self.expected_relevant or frozenset()) & set(tiers.relevant)) / max(1, len(tiers.relevant))

    def recall(self, tiers: AnswerTiers) -> float | None:
        """Return the share of what is expected that was returned; None if nothing is expected."""
        if not self.expected_relevant:
            return None
        return len(self.expected_relevant & set(tiers.relevant)) / len(self.expected_relevant)


def _tier_faults(name: str, bounds: TierBounds, tier: Sequence[str], also: Sequence[str]) -> Iterator[str]:
    """Yield the faults of a tier; `also` is where required beliefs may be, and excluded ones may not."""
    returned = set(tier)
    yield from (f"{name} lacks {belief}" for belief in sorted(bounds.include - set(also)))
    yield from (f"{name} shows {belief}" for belief in sorted(bounds.exclude & set(also)))
    if bounds.only is not None:
        yield from (f"{name} lacks {belief}" for belief in sorted(bounds.only - returned))
        yield from (f"{name} also shows {belief}" for belief in sorted(returned - bounds.only))
    for first, second in bounds.before:
        if first not in returned or second not in returned or tier.index(first) > tier.index(second):
            yield f"{name} does not show {first} before {second}"
    if len(tier) < bounds.least or (bounds.most is not None and len(tier) > bounds.most):
        yield f"{name} shows {len(tier)}"
