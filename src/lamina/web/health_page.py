"""The health page: counts, a chart of retention, jobs, and problems with files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import inf

from starlette.responses import JSONResponse, Response

from lamina.documents.stats import stats_document
from lamina.lifecycle.ageing_time import days_since
from lamina.lifecycle.retention import (
    RetentionMode,
    elastic,
    elastic_blend,
    half_life_days,
    huber,
    l2,
    power,
    retention,
)
from lamina.lifecycle.signals import from_counters, last_touched_at
from lamina.memory import Memory
from lamina.web.page_request import PageRequest

MAX_HALF_LIVES, STEPS_PER_HALF_LIFE = 4, 20
MAX_ATOMS = 300
"""The newest atoms to show."""
TENTHS = 10

_CURVES: dict[RetentionMode, Callable[[float], float]] = {
    RetentionMode.HUBER: huber,
    RetentionMode.L2: l2,
    RetentionMode.ELASTIC: elastic,
    RetentionMode.ELASTIC_BLEND: elastic_blend,
    RetentionMode.POWER: power,
}


@dataclass(frozen=True, slots=True)
class RetentionChart:
    """Curves over half-lives, the positions of atoms on them, and the number of atoms in each tenth."""

    mode: RetentionMode
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


def build_retention_chart(memory: Memory) -> RetentionChart:
    """Return the curves of this memory and the positions of its newest atoms."""
    mode, now = RetentionMode(memory.settings.retention), memory.now()
    ages = tuple(round(n / STEPS_PER_HALF_LIFE, 3) for n in range(MAX_HALF_LIVES * STEPS_PER_HALF_LIFE + 1))
    lines = tuple((name.value, tuple(round(curve(age), 4) for age in ages)) for name, curve in _CURVES.items())
    places, lasting, counted = list[tuple[float, float]](), 0, Counter[int]()
    for atom in memory.list(limit=MAX_ATOMS):
        signals = from_counters(memory.signals(atom.id))
        left, half_life = retention(atom, signals, now, mode), half_life_days(atom, signals)
        counted[min(TENTHS - 1, int(left * TENTHS))] += 1
        if half_life == inf:
            lasting += 1
        else:
            places.append((round(days_since(last_touched_at(atom, signals), now) / half_life, 4), round(left, 4)))
    return RetentionChart(mode, ages, lines, tuple(sorted(places)), lasting, _count_tenths(counted))


def _count_tenths(counts: Counter[int]) -> tuple[tuple[str, int], ...]:
    return tuple((f"{10 * n}-{10 * n + 10} %", counts[n]) for n in range(TENTHS - 1, -1, -1))


def show_health(request: PageRequest) -> Response:
    """Show counts, sizes and jobs."""
    whole_vault = request.caller is not None and request.served_memory.is_vault_admin(request.caller)
    stats = stats_document(request.memory, whole_vault=whole_vault)
    context = {
        "stats": stats,
        "pending_count": stats.to_review,
        "whole_vault": whole_vault,
        "fading": build_retention_chart(request.memory),
    }
    return request.render("health.html", context)


def show_problems(request: PageRequest) -> Response:
    """Show the problems of every file; loaded separately, because it takes as long as there are files."""
    return request.render("problems.html", {"diagnosis": request.memory.upkeep.doctor()}, fragment="_problems.html")


def retention_data(request: PageRequest) -> Response:
    """Return the retention chart as JSON."""
    return JSONResponse(build_retention_chart(request.memory).data())
