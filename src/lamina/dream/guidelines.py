"""Learns from usage how much of each kind of memory to keep: short lines for the model that condenses memories.

They only advise: missing or damaged counters give fewer lines, never an error.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from lamina.atom.atom import Atom
from lamina.atom.kinds import KINDS, Layer
from lamina.atom.status import Status
from lamina.dream.scene import Scene
from lamina.errors import LaminaError
from lamina.lifecycle.signals import Signals, from_counted
from lamina.lifecycle.worth import worth
from lamina.store.base import Filter

MOST = 10
"""The most lines that are written."""
ENOUGH, OUTCOMES = 20, 5
"""The fewest memories, and the fewest answers made with them, from which anything is concluded."""
RARELY, OFTEN = 0.05, 0.5
BAD, GOOD = 0.35, 0.8
BELIEVED = 1e9
"""The highest plausible counter: a higher one is damaged."""
LONG_CHARS = 400
SAMPLE = 1_000
"""How many of the newest memories of a scope are read."""

_NAMES = frozenset({*KINDS, *(f"{each} layer" for each in Layer)})
"""Only these names appear in a line: a kind may have any name that a person or a file gives it."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How the memories of one kind or layer were used.

    `used`: how many were ever used; `successes` and `failures`: answers made with them that were right or wrong.
    """

    kept: int = 0
    used: int = 0
    successes: float = 0.0
    failures: float = 0.0
    chars: int = 0

    def with_(self, atom: Atom, signals: Signals) -> Tally:
        """Return the tally with one more memory."""
        return Tally(
            self.kept + 1,
            self.used + (signals.many > 0),
            self.successes + signals.successes,
            self.failures + signals.failures,
            self.chars + len(atom.content),
        )


def guidelines(signals_by_kind: Mapping[str, Tally]) -> tuple[str, ...]:
    """Return what the tallies of kinds and layers show, the best supported first; at most ten lines."""
    candidates = [
        (-weight, name, line)
        for name, tally in signals_by_kind.items()
        if name in _NAMES and _is_sound(tally)
        for weight, line in _taught(name, tally)
    ]
    return tuple(line for _, _, line in sorted(candidates)[:MOST])


def gather(scene: Scene) -> dict[str, Tally]:
    """Return the tallies of a scope by kind and layer; empty if the store cannot be read."""
    query = Filter(scopes=(scene.scope,), statuses=frozenset({Status.ACTIVE, Status.ARCHIVED}), limit=SAMPLE)
    try:
        atoms = [atom for atom in scene.store.read(query) if atom.is_searched and not atom.is_segment]
        counted = scene.store.ledger.signals_of(atom.id for atom in atoms)
    except LaminaError:
        return {}
    signals = {atom_id: from_counted(counters) for atom_id, counters in counted.items()}
    return tallied((atom, signals.get(atom.id, Signals())) for atom in atoms)


def tallied(memories: Iterable[tuple[Atom, Signals]]) -> dict[str, Tally]:
    """Sum up memories and their signals by kind and by layer."""
    tallies = defaultdict[str, Tally](Tally)
    for atom, signals in memories:
        for name in (atom.kind, f"{atom.layer} layer"):
            tallies[name] = tallies[name].with_(atom, signals)
    return dict(tallies)


def _is_sound(tally: Tally) -> bool:
    outcomes = (tally.successes, tally.failures)
    return all(0 <= outcome <= BELIEVED for outcome in outcomes) and 0 <= tally.used <= tally.kept and tally.chars >= 0


def _taught(name: str, tally: Tally) -> Iterator[tuple[float, str]]:
    """Return each line with its support: the number of memories or of answers."""
    if tally.kept >= ENOUGH:
        yield from _by_use(name, tally)
    answers = tally.successes + tally.failures
    if answers < OUTCOMES:
        return
    quality, total = worth(tally.successes, tally.failures), f"of {answers:.0f} answers"
    if quality < BAD:
        yield answers, f"{name}: {tally.failures:.0f} {total} were wrong: keep who said it and in which words"
    elif quality > GOOD:
        yield answers, f"{name}: {tally.successes:.0f} {total} came out well: keep it as it is worded"


def _by_use(name: str, tally: Tally) -> Iterator[tuple[float, str]]:
    share, usage = tally.used / tally.kept, f"{tally.used:,} of {tally.kept:,} were ever used"
    if share < RARELY:
        chars = tally.chars / tally.kept
        advice = f"cut it from {chars:.0f} characters to one sentence" if chars > LONG_CHARS else "keep it short"
        yield tally.kept, f"{name}: {usage}: {advice}"
    elif share >= OFTEN:
        yield tally.kept, f"{name}: {usage}: keep it whole, with its names, numbers and dates"
