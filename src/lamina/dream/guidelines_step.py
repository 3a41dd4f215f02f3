"""Step guidelines: what use has shown about what is worth storing, kept on a page that extraction follows.

Guidelines only advise: missing or damaged counters give fewer lines, never an error.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from lamina.atom.atom import GUIDELINES_PAGE, Atom
from lamina.atom.kinds import KINDS, Layer
from lamina.atom.status import Status
from lamina.dream.scope_pages import plan_root_page
from lamina.dream.step import StepContext, StepPlan
from lamina.errors import LaminaError
from lamina.lifecycle.signals import AgeingSignals, from_counters, success_rate
from lamina.store.base import AtomFilter

MAX_LINES = 10
"""The most lines that are written."""
MIN_MEMORIES, MIN_OUTCOMES = 20, 5
"""The fewest memories, and the fewest answers made with them, from which anything is concluded."""
RARELY_USED, OFTEN_USED = 0.05, 0.5
LOW_QUALITY, HIGH_QUALITY = 0.35, 0.8
MAX_COUNTER = 1e9
"""The highest plausible counter: a higher one is damaged."""
LONG_CHARS = 400
SAMPLE_SIZE = 1_000
"""How many of the newest memories of a scope are read."""

_ALLOWED_NAMES = frozenset({*KINDS, *(f"{layer} layer" for layer in Layer)})
"""Only these names appear in a line: a kind may have any name that a person or a file gives it."""


@dataclass(frozen=True, slots=True)
class KindTally:
    """Counts of the use of memories of one kind or layer.

    `used`: how many were ever used; `successes` and `failures`: answers made with them that were right or wrong.
    """

    count: int = 0
    used: int = 0
    successes: float = 0.0
    failures: float = 0.0
    chars: int = 0

    def with_memory(self, atom: Atom, signals: AgeingSignals) -> KindTally:
        """Return the tally with one more memory."""
        return KindTally(
            self.count + 1,
            self.used + (signals.total_uses > 0),
            self.successes + signals.successes,
            self.failures + signals.failures,
            self.chars + len(atom.content),
        )


def write_guidelines(tallies: Mapping[str, KindTally]) -> tuple[str, ...]:
    """Return what the tallies of kinds and layers show, the best supported first; at most ten lines."""
    candidates = [
        (-weight, name, line)
        for name, tally in tallies.items()
        if name in _ALLOWED_NAMES and _is_plausible(tally)
        for weight, line in _lines_for(name, tally)
    ]
    return tuple(line for _, _, line in sorted(candidates)[:MAX_LINES])


def gather_tallies(context: StepContext) -> dict[str, KindTally]:
    """Return the tallies of a scope by kind and layer; empty if the store cannot be read."""
    query = AtomFilter(scopes=(context.scope,), statuses=frozenset({Status.ACTIVE, Status.ARCHIVED}), limit=SAMPLE_SIZE)
    try:
        atoms = [atom for atom in context.store.atoms.read(query) if atom.is_searched and not atom.is_segment]
        counted = context.store.signals.get(atom.id for atom in atoms).signals
    except LaminaError:
        return {}
    signals = {atom_id: from_counters(counters) for atom_id, counters in counted.items()}
    return tally_memories((atom, signals.get(atom.id, AgeingSignals())) for atom in atoms)


def tally_memories(memories: Iterable[tuple[Atom, AgeingSignals]]) -> dict[str, KindTally]:
    """Sum up memories and their signals by kind and by layer."""
    tallies = defaultdict[str, KindTally](KindTally)
    for atom, signals in memories:
        for name in (atom.kind, f"{atom.layer} layer"):
            tallies[name] = tallies[name].with_memory(atom, signals)
    return dict(tallies)


def _is_plausible(tally: KindTally) -> bool:
    outcomes = (tally.successes, tally.failures)
    return (
        all(0 <= outcome <= MAX_COUNTER for outcome in outcomes) and 0 <= tally.used <= tally.count and tally.chars >= 0
    )


def _lines_for(name: str, tally: KindTally) -> Iterator[tuple[float, str]]:
    """Return each line with its support: the number of memories or of answers."""
    if tally.count >= MIN_MEMORIES:
        yield from _usage_lines(name, tally)
    answers = tally.successes + tally.failures
    if answers < MIN_OUTCOMES:
        return
    quality, total = success_rate(tally.successes, tally.failures), f"of {answers:.0f} answers"
    if quality < LOW_QUALITY:
        yield answers, f"{name}: {tally.failures:.0f} {total} were wrong: keep who said it and in which words"
    elif quality > HIGH_QUALITY:
        yield answers, f"{name}: {tally.successes:.0f} {total} came out well: keep it as it is worded"


def _usage_lines(name: str, tally: KindTally) -> Iterator[tuple[float, str]]:
    share, usage = tally.used / tally.count, f"{tally.used:,} of {tally.count:,} were ever used"
    if share < RARELY_USED:
        chars = tally.chars / tally.count
        advice = f"cut it from {chars:.0f} characters to one sentence" if chars > LONG_CHARS else "keep it short"
        yield tally.count, f"{name}: {usage}: {advice}"
    elif share >= OFTEN_USED:
        yield tally.count, f"{name}: {usage}: keep it whole, with its names, numbers and dates"


_INTRODUCTION = (
    "What use has shown. Extraction with a chat model follows these lines, and list items that you write outside of "
    "this section."
)


def guidelines(context: StepContext) -> StepPlan:
    """Plan the guidelines page; without new lines an existing one stays as it is."""
    lines = write_guidelines(gather_tallies(context))
    if not lines:
        return StepPlan()
    generated = "\n".join(["# Guidelines", "", _INTRODUCTION, "", *(f"- {line}" for line in lines)])
    return plan_root_page(context, GUIDELINES_PAGE, generated, f"{len(lines)} guidelines")
