"""Counts and durations of requests by route, in the text format of Prometheus."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"
BUCKET_BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_METHODS = frozenset({"GET", "POST", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE"})

Labels = tuple[tuple[str, str], ...]


@dataclass(slots=True)
class _Histogram:
    """A histogram of durations."""

    bucket_counts: list[int] = field(default_factory=lambda: [0] * len(BUCKET_BOUNDS))
    count: int = 0
    total: float = 0.0

    def add(self, seconds: float) -> None:
        self.count += 1
        self.total += seconds
        for index, bound in enumerate(BUCKET_BOUNDS):
            self.bucket_counts[index] += seconds <= bound


@dataclass(frozen=True, slots=True)
class MetricFamily:
    """One metric with its values by label."""

    name: str
    kind: str
    help: str
    values: tuple[tuple[Labels, float], ...]


class RequestMetrics:
    """Metrics since the start of the server, by the caller's scope. Only the server's event loop writes them."""

    def __init__(self) -> None:
        self._requests: defaultdict[str, defaultdict[Labels, int]] = defaultdict(lambda: defaultdict(int))
        self._histograms: defaultdict[str, defaultdict[str, _Histogram]] = defaultdict(lambda: defaultdict(_Histogram))
        self._refusals: defaultdict[str, int] = defaultdict(int)

    def record_request(self, scope: str, route: str, method: str, status: int, seconds: float) -> None:
        """Count a response; an unknown method counts as `other`, so that labels stay few."""
        method_label = method if method in _METHODS else "other"
        self._requests[scope][("method", method_label), ("route", route), ("status", str(status))] += 1
        self._histograms[scope][route].add(seconds)

    def record_refusal(self, name: str) -> None:
        """Count a request that the middleware denied."""
        self._refusals[name] += 1

    def render(self, scope: str | None, extra_families: Sequence[MetricFamily] = ()) -> str:
        """Return the metrics of a scope, or of all scopes with the denied requests, together with other metrics."""
        scopes = [scope] if scope is not None else [*self._requests]
        requests = tuple(
            ((("scope", name_of_scope), *labels), float(count))
            for name_of_scope in scopes
            for labels, count in sorted(self._requests[name_of_scope].items())
        )
        families = [
            MetricFamily("lamina_http_requests_total", "counter", "Requests that were answered.", requests),
            *extra_families,
        ]
        if scope is None:
            refused = tuple(((("reason", name),), float(count)) for name, count in sorted(self._refusals.items()))
            families.append(
                MetricFamily("lamina_http_refused_total", "counter", "Denied requests, by reason.", refused)
            )
        lines = [line for family in families for line in _family_lines(family)]
        return "\n".join([*lines, *self._histogram_lines(scopes), ""])

    def _histogram_lines(self, scopes: Sequence[str]) -> Iterable[str]:
        name = "lamina_http_request_seconds"
        yield f"# HELP {name} Duration of requests."
        yield f"# TYPE {name} histogram"
        for scope in scopes:
            for route, times in sorted(self._histograms[scope].items()):
                labels: Labels = (("scope", scope), ("route", route))
                for bound, count in zip((*BUCKET_BOUNDS, None), (*times.bucket_counts, times.count), strict=True):
                    bound_label = "+Inf" if bound is None else f"{bound:g}"
                    yield f"{name}_bucket{_format_labels((*labels, ('le', bound_label)))} {count}"
                yield f"{name}_sum{_format_labels(labels)} {times.total:.6f}"
                yield f"{name}_count{_format_labels(labels)} {times.count}"


def labelled_gauge(name: str, help: str, label: str, counts: Mapping[str, int], scope: str) -> MetricFamily:
    """Return a gauge with one value for each label value, in a scope."""
    values = tuple(
        ((("scope", scope), (label, label_value)), float(count)) for label_value, count in sorted(counts.items())
    )
    return MetricFamily(name, "gauge", help, values)


def gauge(name: str, help: str, value: float, scope: str) -> MetricFamily:
    """Return a gauge with one value, in a scope."""
    return MetricFamily(name, "gauge", help, (((("scope", scope),), float(value)),))


def _family_lines(family: MetricFamily) -> Iterable[str]:
    yield f"# HELP {family.name} {family.help}"
    yield f"# TYPE {family.name} {family.kind}"
    for labels, value in family.values:
        yield f"{family.name}{_format_labels(labels)} {int(value) if value.is_integer() else value}"


def _format_labels(labels: Labels) -> str:
    pairs = ",".join(f'{name}="{_escape_label_value(value)}"' for name, value in labels)
    return f"{{{pairs}}}" if pairs else ""


def _escape_label_value(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
