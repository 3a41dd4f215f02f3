"""How much of what to keep, learnt from what became of it: short lines for whoever condenses memories.

They help and decide nothing: where counters are missing or damaged there are fewer lines or none, and never an error.
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
"""So many lines are read by those they are for."""
ENOUGH, OUTCOMES = 20, 5
"""Fewer memories, or fewer answers made with them, teach nothing."""
RARELY, OFTEN = 0.05, 0.5
BAD, GOOD = 0.35, 0.8
BELIEVED = 1e9
"""Nobody has asked more than that: a greater counter is damaged."""
LONG_CHARS = 400
SAMPLE = 1_000
"""The newest memories of a scope, by which the rest is judged."""

_NAMES = frozenset({*KINDS, *(f"{each} layer" for each in Layer)})
"""Nobody else's words get into a line: a kind may have any name a person or a file gives it."""


@dataclass(frozen=True, slots=True)
class Tally:
    """What became of the memories of one kind or layer.

    `used`: how many of them were ever used; `successes` and `failures`: answers made with them that came out so.
    """

    kept: int = 0
    used: int = 0
    successes: float = 0.0
    failures: float = 0.0
    chars: int = 0

    def with_(self, atom: Atom, signals: Signals) -> Tally:
        """The tally with one more memory in it."""
        return Tally(
            self.kept + 1,
            self.used + (signals.many > 0),
            self.successes + signals.successes,
            self.failures + signals.failures,
            self.chars + len(atom.content),
        )


def guidelines(signals_by_kind: Mapping[str, Tally]) -> tuple[str, ...]:
    """What the tallies of kinds and layers teach, the best founded first; at most ten lines."""
    found = [
        (-weight, name, line)
        for name, tally in signals_by_kind.items()
        if name in _NAMES and _is_sound(tally)
        for weight, line in _taught(name, tally)
    ]
    return tuple(line for _, _, line in sorted(found)[:MOST])


def gather(scene: Scene) -> dict[str, Tally]:
    """The tallies of a scope, by kind and by layer; none where the store cannot tell."""
    wanted = Filter(scopes=(scene.scope,), statuses=frozenset({Status.ACTIVE, Status.ARCHIVED}), limit=SAMPLE)
    try:
        atoms = [each for each in scene.store.read(wanted) if each.is_searched and not each.is_segment]
        counted = scene.store.ledger.signals_of(atom.id for atom in atoms)
    except LaminaError:
        return {}
    signals = {atom_id: from_counted(each) for atom_id, each in counted.items()}
    return tallied((atom, signals.get(atom.id, Signals())) for atom in atoms)


def tallied(memories: Iterable[tuple[Atom, Signals]]) -> dict[str, Tally]:
    """Memories and what is known of them, summed up by kind and by layer."""
    found = defaultdict[str, Tally](Tally)
    for atom, signals in memories:
        for name in (atom.kind, f"{atom.layer} layer"):
            found[name] = found[name].with_(atom, signals)
    return dict(found)


def _is_sound(tally: Tally) -> bool:
    outcomes = (tally.successes, tally.failures)
    return all(0 <= outcome <= BELIEVED for outcome in outcomes) and 0 <= tally.used <= tally.kept and tally.chars >= 0


def _taught(name: str, tally: Tally) -> Iterator[tuple[float, str]]:
    """Each line with how much speaks for it: so many memories, or so many answers."""
    if tally.kept >= ENOUGH:
        yield from _by_use(name, tally)
    answers = tally.successes + tally.failures
    if answers < OUTCOMES:
        return
    served, told = worth(tally.successes, tally.failures), f"of {answers:.0f} answers"
    if served < BAD:
        yield answers, f"{name}: {tally.failures:.0f} {told} were wrong: keep who said it and in which words"
    elif served > GOOD:
        yield answers, f"{name}: {tally.successes:.0f} {told} came out well: keep it as it is worded"


def _by_use(name: str, tally: Tally) -> Iterator[tuple[float, str]]:
    share, told = tally.used / tally.kept, f"{tally.used:,} of {tally.kept:,} were ever used"
    if share < RARELY:
        chars = tally.chars / tally.kept
        how = f"cut it from {chars:.0f} characters to one sentence" if chars > LONG_CHARS else "keep it short"
        yield tally.kept, f"{name}: {told}: {how}"
    elif share >= OFTEN:
        yield tally.kept, f"{name}: {told}: keep it whole, with its names, numbers and dates"
