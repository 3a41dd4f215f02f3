"""Counts of requests and how long they took, by the shape of their paths, in the text format of Prometheus."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BORDERS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_METHODS = frozenset({"GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"})

Labels = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Times:
    """How many took at most so long, all of them together, and how long that was."""

    under: list[int] = field(default_factory=lambda: [0] * len(BORDERS))
    count: int = 0
    total: float = 0.0

    def add(self, seconds: float) -> None:
        self.count += 1
        self.total += seconds
        for n, border in enumerate(BORDERS):
            self.under[n] += seconds <= border


@dataclass(frozen=True, slots=True)
class Family:
    """One figure with its values by label."""

    name: str
    kind: str
    help: str
    values: tuple[tuple[Labels, float], ...]


class Meters:
    """What a server has done since it began, by the scope of who asked. Only its own loop writes into it."""

    def __init__(self) -> None:
        self._requests: defaultdict[str, defaultdict[Labels, int]] = defaultdict(lambda: defaultdict(int))
        self._times: defaultdict[str, defaultdict[str, _Times]] = defaultdict(lambda: defaultdict(_Times))
        self._refused: defaultdict[str, int] = defaultdict(int)

    def answered(self, scope: str, route: str, method: str, status: int, seconds: float) -> None:
        """A request was answered; a method nobody knows counts as `other`, so that labels stay few."""
        known = method if method in _METHODS else "other"
        self._requests[scope][("method", known), ("route", route), ("status", str(status))] += 1
        self._times[scope][route].add(seconds)

    def refused(self, name: str) -> None:
        """A request did not get past the gate."""
        self._refused[name] += 1

    def text(self, scope: str | None, beside: Sequence[Family] = ()) -> str:
        """What a scope asked for, or all of them and what was turned away, with the figures of others beside it."""
        own = [scope] if scope is not None else [*self._requests]
        requests = tuple(
            ((("scope", each), *labels), float(count))
            for each in own
            for labels, count in sorted(self._requests[each].items())
        )
        families = [Family("lamina_http_requests_total", "counter", "Requests that were answered.", requests), *beside]
        if scope is None:
            refused = tuple(((("reason", name),), float(count)) for name, count in sorted(self._refused.items()))
            families.append(Family("lamina_http_refused_total", "counter", "Requests turned away, by reason.", refused))
        lines = [line for family in families for line in _lines(family)]
        return "\n".join([*lines, *self._histogram(own), ""])

    def _histogram(self, own: Sequence[str]) -> Iterable[str]:
        name = "lamina_http_request_seconds"
        yield f"# HELP {name} How long requests took."
        yield f"# TYPE {name} histogram"
        for scope in own:
            for route, times in sorted(self._times[scope].items()):
                whose: Labels = (("scope", scope), ("route", route))
                for border, count in zip((*BORDERS, None), (*times.under, times.count), strict=True):
                    told = "+Inf" if border is None else f"{border:g}"
                    yield f"{name}_bucket{_labels((*whose, ('le', told)))} {count}"
                yield f"{name}_sum{_labels(whose)} {times.total:.6f}"
                yield f"{name}_count{_labels(whose)} {times.count}"


def counted(name: str, help: str, label: str, counts: Mapping[str, int], scope: str) -> Family:
    """How many there are of what, in a scope."""
    values = tuple(((("scope", scope), (label, each)), float(many)) for each, many in sorted(counts.items()))
    return Family(name, "gauge", help, values)


def single(name: str, help: str, value: float, scope: str) -> Family:
    """One figure of a scope."""
    return Family(name, "gauge", help, (((("scope", scope),), float(value)),))


def _lines(family: Family) -> Iterable[str]:
    yield f"# HELP {family.name} {family.help}"
    yield f"# TYPE {family.name} {family.kind}"
    for labels, value in family.values:
        yield f"{family.name}{_labels(labels)} {int(value) if value.is_integer() else value}"


def _labels(labels: Labels) -> str:
    told = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels)
    return f"{{{told}}}" if told else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
