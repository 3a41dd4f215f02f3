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
AttributeValue: TypeAlias = str | int | float
"""The types of an attribute's value."""

INSTRUMENTATION_NAME = "lamina"
OPERATION, MODEL, PROVIDER = "gen_ai.operation.name", "gen_ai.request.model", "gen_ai.provider.name"
RECORDS, ERROR = "gen_ai.memory.record.count", "error.type"
SERVER, PORT = "server.address", "server.port"
TOKENS_IN, TOKENS_OUT = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"
VERB, STEP = "lamina.verb", "lamina.dream.step"

DURATION_BUCKETS = (0.001, 0.0025, 0.005, *(0.01 * 2**n for n in range(14)))
"""The buckets of the convention and some smaller ones, because a memory in the same process answers faster than a
service."""
RECORD_COUNT_BUCKETS = (0, 1, 2, 5, 10, 20, 50, 100, 1000)

_OPENTELEMETRY_MODULES = ("opentelemetry.trace", "opentelemetry.metrics")
_RESULT_LISTS = ("hits", "outcomes", "erased", "cited", "atoms")
_inside_operation: ContextVar[bool] = ContextVar("lamina_operation", default=False)


class Operation(StrEnum):
    """An operation on memories: the names of the convention, and two for which it has none."""

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


def is_telemetry_enabled() -> bool:
    """Return whether the process has loaded OpenTelemetry; lamina never loads it by itself."""
    return any(name in sys.modules for name in _OPENTELEMETRY_MODULES)


def traced(operation: Operation) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that reports one span and one measurement per call of a public verb, not for the verbs it
    calls."""

    def wrap(verb: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(verb)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R:
            if not is_telemetry_enabled() or _inside_operation.get():
                return verb(*args, **kwargs)
            name = f"{type(args[0]).__name__}.{verb.__name__}".lower().rstrip("_")
            with _trace_operation(operation, name) as results:
                result = verb(*args, **kwargs)
                records = _count_records(result)
                if records is not None:
                    results[RECORDS] = records
            return result

        return wrapper

    return wrap


@contextmanager
def trace_step(name: str, attributes: Mapping[str, AttributeValue]) -> Iterator[dict[str, AttributeValue]]:
    """Report a step inside a verb as a span; what the caller adds to the returned mapping becomes its attributes."""
    results: dict[str, AttributeValue] = {}
    if not is_telemetry_enabled():
        yield results
        return
    with _open_span(name, attributes, results):
        yield results


@contextmanager
def trace_model_call(operation: str, model: str) -> Iterator[dict[str, AttributeValue]]:
    """Report a call of a model named `provider:name@host`; the caller adds the usage to the returned mapping."""
    results: dict[str, AttributeValue] = {}
    if not is_telemetry_enabled():
        yield results
        return
    attributes, started = _model_attributes(operation, model), time.perf_counter()
    try:
        with _open_span(f"{operation} {attributes[MODEL]}", attributes, results, is_client=True):
            yield results
    finally:
        _load_instruments().duration.record(time.perf_counter() - started, attributes | _error_attribute(results))


@contextmanager
def _trace_operation(operation: Operation, verb: str) -> Iterator[dict[str, AttributeValue]]:
    attributes: dict[str, AttributeValue] = {OPERATION: operation.value, VERB: verb}
    results: dict[str, AttributeValue] = {}
    started, token = time.perf_counter(), _inside_operation.set(True)
    try:
        with _open_span(operation.value, attributes, results):
            yield results
    finally:
        _inside_operation.reset(token)
        instruments = _load_instruments()
        instruments.duration.record(time.perf_counter() - started, attributes | _error_attribute(results))
        if RECORDS in results:
            instruments.records.record(results[RECORDS], attributes)  # type: ignore[arg-type]


@contextmanager
def _open_span(
    name: str, attributes: Mapping[str, AttributeValue], results: dict[str, AttributeValue], *, is_client: bool = False
) -> Iterator[None]:
    """Open a span that shows an exception by its class alone, because its message may contain user text."""
    from opentelemetry.trace import SpanKind, StatusCode

    with _load_instruments().tracer.start_as_current_span(
        name,
        kind=SpanKind.CLIENT if is_client else SpanKind.INTERNAL,
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield
        except BaseException as error:
            results[ERROR] = type(error).__qualname__
            span.set_status(StatusCode.ERROR)
            raise
        finally:
            span.set_attributes(results)


@functools.cache
def _load_instruments() -> _Instruments:
    """Create the instruments at the first call; the API forwards to providers that are configured later."""
    from opentelemetry import metrics, trace

    meter = metrics.get_meter(INSTRUMENTATION_NAME)
    return _Instruments(
        trace.get_tracer(INSTRUMENTATION_NAME),
        meter.create_histogram(
            "gen_ai.client.operation.duration",
            "s",
            "GenAI operation duration.",
            explicit_bucket_boundaries_advisory=DURATION_BUCKETS,
        ),
        meter.create_histogram(
            "lamina.memory.records",
            "{record}",
            "How many memories an operation found or touched.",
            explicit_bucket_boundaries_advisory=RECORD_COUNT_BUCKETS,
        ),
    )


def _count_records(result: object) -> int | None:
    """Return the number of memories in a verb's result; None if it contains none."""
    if isinstance(result, list):
        counts = [1 if isinstance(item, str | tuple) else _count_records(item) for item in result]
        return None if None in counts else sum(count or 0 for count in counts)
    for name in _RESULT_LISTS:
        items = getattr(result, name, None)
        if isinstance(items, tuple):
            return len(items)
    return 1 if hasattr(result, "revision") else None


def _model_attributes(operation: str, model: str) -> dict[str, AttributeValue]:
    model_name, _, host = model.partition("@")
    provider, _, name = model_name.partition(":")
    server, _, port = host.rpartition(":") if host.rpartition(":")[2].isdecimal() else (host, "", "")
    attributes: dict[str, AttributeValue] = {OPERATION: operation, PROVIDER: provider, MODEL: name, SERVER: server}
    return attributes | {PORT: int(port)} if port else attributes


def _error_attribute(results: Mapping[str, AttributeValue]) -> dict[str, AttributeValue]:
    return {ERROR: results[ERROR]} if ERROR in results else {}
