"""The chart of retention: the curve in use, the other curves, and the newest atoms on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from lamina.lifecycle import curves
from lamina.lifecycle.half_life import half_life_days
from lamina.lifecycle.moment import days_since
from lamina.lifecycle.retention import Mode, retention
from lamina.lifecycle.signals import from_counted, last_touch
from lamina.memory import Memory

HALF_LIVES, FINE = 4, 20
MOST = 300
"""The newest atoms to show."""
TENTHS = 10

_CURVES: dict[Mode, Callable[[float], float]] = {
    Mode.HUBER: curves.huber,
    Mode.L2: curves.l2,
    Mode.ELASTIC: curves.elastic,
    Mode.ELASTIC_BLEND: curves.elastic_blend,
    Mode.POWER: curves.power,
}


@dataclass(frozen=True, slots=True)
class Fading:
    """Curves over half-lives, the positions of atoms on them, and the number of atoms in each tenth."""

    mode: Mode
    ages: tuple[float, ...]
    lines: tuple[tuple[str, tuple[float, ...]], ...]
    places: tuple[tuple[float, float], ...]
    lasting: int
    tenths: tuple[tuple[str, int], ...]

    def data(self) -> dict[str, object]:
        """Return the chart as JSON values."""
        return {
            "mode": self.mode.value,
            "ages": self.ages,
            "lines": [list(line) for line in self.lines],
            "places": [list(place) for place in self.places],
        }


def faded(memory: Memory) -> Fading:
    """Return the curves of this memory and the positions of its newest atoms."""
    mode, now = Mode(memory.settings.retention), memory.now()
    ages = tuple(round(n / FINE, 3) for n in range(HALF_LIVES * FINE + 1))
    lines = tuple((name.value, tuple(round(curve(age), 4) for age in ages)) for name, curve in _CURVES.items())
    places, lasting, counted = list[tuple[float, float]](), 0, Counter[int]()
    for atom in memory.list(limit=MOST):
        signals = from_counted(memory.signals(atom.id))
        left, half_life = retention(atom, signals, now, mode), half_life_days(atom, signals)
        counted[min(TENTHS - 1, int(left * TENTHS))] += 1
        if half_life == inf:
            lasting += 1
        else:
            places.append((round(days_since(last_touch(atom, signals), now) / half_life, 4), round(left, 4)))
    return Fading(mode, ages, lines, tuple(sorted(places)), lasting, _tenths(counted))


def _tenths(counted: Counter[int]) -> tuple[tuple[str, int], ...]:
    return tuple((f"{10 * n}-{10 * n + 10} %", counted[n]) for n in range(TENTHS - 1, -1, -1))
