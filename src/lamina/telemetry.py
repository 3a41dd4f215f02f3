"""Report spans and metrics to OpenTelemetry, by its names for memory operations, if the process has loaded it.

lamina never imports OpenTelemetry by itself, and reports only to the providers that the process has configured. It
reports verbs, counts, durations and error classes; never texts, questions, reasons, ids or scopes.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ParamSpec, TypeAlias, TypeVar

if TYPE_CHECKING:
    from opentelemetry.metrics import Histogram
    from opentelemetry.trace import Tracer

P = ParamSpec("P")
R = TypeVar("R")
Told: TypeAlias = str | int | float
"""The types of an attribute's value."""

NAME = "lamina"
OPERATION, MODEL, PROVIDER = "gen_ai.operation.name", "gen_ai.request.model", "gen_ai.provider.name"
RECORDS, ERROR = "gen_ai.memory.record.count", "error.type"
SERVER, PORT = "server.address", "server.port"
TOKENS_IN, TOKENS_OUT = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"
VERB, STEP = "lamina.verb", "lamina.dream.step"

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
"""The buckets of the convention and some smaller ones, because a memory in the same process answers faster than a
service."""
MANY = (0, 1, 2, 5, 10, 20, 50, 100, 1000)

_LOADED = ("opentelemetry.trace", "opentelemetry.metrics")
_COUNTED = ("hits", "outcomes", "erased", "cited", "atoms")
_inside: ContextVar[bool] = ContextVar("lamina_operation", default=False)


class Operation(StrEnum):
    """What a verb does with memories: the names of the convention, and two for which it has none."""

    CREATE = "create_memory"
    UPDATE = "update_memory"
    UPSERT = "upsert_memory"
    DELETE = "delete_memory"
    SEARCH = "search_memory"
    READ = "read_memory"
    MAINTAIN = "maintain_memory"


@dataclass(frozen=True, slots=True)
class _Instruments:
    tracer: Tracer
    duration: Histogram
    records: Histogram


def is_heard() -> bool:
    """Return whether the process has loaded OpenTelemetry; lamina never loads it by itself."""
    return any(name in sys.modules for name in _LOADED)


def traced(operation: Operation) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that reports one span and one measurement per call of a public verb, not for the verbs it
    calls."""

    def wrap(verb: Callable[P, R]) -> Callable[P, R]:
        name = verb.__qualname__.lower().rstrip("_")

        @functools.wraps(verb)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            if not is_heard() or _inside.get():
                return verb(*args, **kwargs)
            with _one(operation, name) as results:
                result = verb(*args, **kwargs)
                records = _records(result)
                if records is not None:
                    results[RECORDS] = records
            return result

        return wrapper

    return wrap


@contextmanager
def part(name: str, known: Mapping[str, Told]) -> Iterator[dict[str, Told]]:
    """Report a step inside a verb as a span; what the caller adds to the returned mapping becomes its attributes."""
    results: dict[str, Told] = {}
    if not is_heard():
        yield results
        return
    with _span(name, known, results):
        yield results


@contextmanager
def model_call(operation: str, model: str) -> Iterator[dict[str, Told]]:
    """Report a call of a model named `provider:name@host`; the caller adds the usage to the returned mapping."""
    results: dict[str, Told] = {}
    if not is_heard():
        yield results
        return
    attributes, started = _model(operation, model), time.perf_counter()
    try:
        with _span(f"{operation} {attributes[MODEL]}", attributes, results, outside=True):
            yield results
    finally:
        _instruments().duration.record(time.perf_counter() - started, attributes | _error_of(results))


@contextmanager
def _one(operation: Operation, verb: str) -> Iterator[dict[str, Told]]:
    attributes: dict[str, Told] = {OPERATION: operation.value, VERB: verb}
    results: dict[str, Told] = {}
    started, token = time.perf_counter(), _inside.set(True)
    try:
        with _span(operation.value, attributes, results):
            yield results
    finally:
        _inside.reset(token)
        instruments = _instruments()
        instruments.duration.record(time.perf_counter() - started, attributes | _error_of(results))
        if RECORDS in results:
            instruments.records.record(results[RECORDS], attributes)  # type: ignore[arg-type]


@contextmanager
def _span(name: str, known: Mapping[str, Told], learnt: dict[str, Told], *, outside: bool = False) -> Iterator[None]:
    """Open a span that shows an exception by its class alone, because its message may contain user text."""
    from opentelemetry.trace import SpanKind, StatusCode

    with _instruments().tracer.start_as_current_span(
        name,
        kind=SpanKind.CLIENT if outside else SpanKind.INTERNAL,
        attributes=known,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield
        except BaseException as error:
            learnt[ERROR] = type(error).__qualname__
            span.set_status(StatusCode.ERROR)
            raise
        finally:
            span.set_attributes(learnt)


@functools.cache
def _instruments() -> _Instruments:
    """Create the instruments at the first call; the API forwards to providers that are configured later."""
    from opentelemetry import metrics, trace

    meter = metrics.get_meter(NAME)
    return _Instruments(
        trace.get_tracer(NAME),
        meter.create_histogram(
            "gen_ai.client.operation.duration",
            "s",
            "GenAI operation duration.",
            explicit_bucket_boundaries_advisory=SECONDS,
        ),
        meter.create_histogram(
            "lamina.memory.records",
            "{record}",
            "How many memories an operation found or touched.",
            explicit_bucket_boundaries_advisory=MANY,
        ),
    )


def _records(result: object) -> int | None:
    """Return the number of memories in a verb's result; None if it contains none."""
    if isinstance(result, list):
        counts = [1 if isinstance(item, str | tuple) else _records(item) for item in result]
        return None if None in counts else sum(count or 0 for count in counts)
    for name in _COUNTED:
        items = getattr(result, name, None)
        if isinstance(items, tuple):
            return len(items)
    return 1 if hasattr(result, "revision") else None


def _model(operation: str, model: str) -> dict[str, Told]:
    model_name, _, host = model.partition("@")
    provider, _, name = model_name.partition(":")
    server, _, port = host.rpartition(":") if host.rpartition(":")[2].isdecimal() else (host, "", "")
    attributes: dict[str, Told] = {OPERATION: operation, PROVIDER: provider, MODEL: name, SERVER: server}
    return attributes | {PORT: int(port)} if port else attributes


def _error_of(learnt: Mapping[str, Told]) -> dict[str, Told]:
    return {ERROR: learnt[ERROR]} if ERROR in learnt else {}
