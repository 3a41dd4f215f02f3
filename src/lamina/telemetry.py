"""Spans and metrics for whoever traces the process that lamina runs in, by OpenTelemetry's names for memories.

Nothing is measured, sent or imported of its own accord: there is somebody to tell only where the process has loaded
OpenTelemetry itself, and what is told goes to the providers it has set up. That is verbs, counts, times and the names
of errors; never words, questions, reasons, ids or scopes.
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
"""What an attribute may be."""

NAME = "lamina"
OPERATION, MODEL, PROVIDER = "gen_ai.operation.name", "gen_ai.request.model", "gen_ai.provider.name"
RECORDS, ERROR = "gen_ai.memory.record.count", "error.type"
SERVER, PORT = "server.address", "server.port"
TOKENS_IN, TOKENS_OUT = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"
VERB, STEP = "lamina.verb", "lamina.dream.step"

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
"""The convention's borders, and some below them: a memory in the same process answers sooner than a service."""
MANY = (0, 1, 2, 5, 10, 20, 50, 100, 1000)

_LOADED = ("opentelemetry.trace", "opentelemetry.metrics")
_COUNTED = ("hits", "outcomes", "erased", "cited", "atoms")
_inside: ContextVar[bool] = ContextVar("lamina_operation", default=False)


class Operation(StrEnum):
    """What a verb does to memories: the names the convention has, and two for what it has none for."""

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
    """Whether the process has loaded OpenTelemetry; it is never loaded for its sake."""
    return any(name in sys.modules for name in _LOADED)


def traced(operation: Operation) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Tell of a public verb: one span and one measurement a call, however many verbs it calls itself."""

    def wrap(verb: Callable[P, R]) -> Callable[P, R]:
        name = verb.__qualname__.lower().rstrip("_")

        @functools.wraps(verb)
        def told(*args: P.args, **kwargs: P.kwargs) -> R:
            if not is_heard() or _inside.get():
                return verb(*args, **kwargs)
            with _one(operation, name) as learnt:
                result = verb(*args, **kwargs)
                records = _records(result)
                if records is not None:
                    learnt[RECORDS] = records
            return result

        return told

    return wrap


@contextmanager
def part(name: str, known: Mapping[str, Told]) -> Iterator[dict[str, Told]]:
    """A piece of work inside a verb; what is put into the mapping is told at its end."""
    learnt: dict[str, Told] = {}
    if not is_heard():
        yield learnt
        return
    with _span(name, known, learnt):
        yield learnt


@contextmanager
def model_call(operation: str, model: str) -> Iterator[dict[str, Told]]:
    """A call of a model that goes by `provider:name@host`; what it took is put into the mapping."""
    learnt: dict[str, Told] = {}
    if not is_heard():
        yield learnt
        return
    known, begun = _model(operation, model), time.perf_counter()
    try:
        with _span(f"{operation} {known[MODEL]}", known, learnt, outside=True):
            yield learnt
    finally:
        _instruments().duration.record(time.perf_counter() - begun, known | _error_of(learnt))


@contextmanager
def _one(operation: Operation, verb: str) -> Iterator[dict[str, Told]]:
    known: dict[str, Told] = {OPERATION: operation.value, VERB: verb}
    learnt: dict[str, Told] = {}
    begun, outside = time.perf_counter(), _inside.set(True)
    try:
        with _span(operation.value, known, learnt):
            yield learnt
    finally:
        _inside.reset(outside)
        instruments = _instruments()
        instruments.duration.record(time.perf_counter() - begun, known | _error_of(learnt))
        if RECORDS in learnt:
            instruments.records.record(learnt[RECORDS], known)  # type: ignore[arg-type]


@contextmanager
def _span(name: str, known: Mapping[str, Told], learnt: dict[str, Told], *, outside: bool = False) -> Iterator[None]:
    """The message of an exception may hold anybody's words, so it is told by its name alone."""
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
    """Made at the first call; where a provider is set up later, the API hands everything on to it."""
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
    """How many memories a verb's result is about, where it is about any."""
    if isinstance(result, list):
        each = [1 if isinstance(it, str | tuple) else _records(it) for it in result]
        return None if None in each else sum(many or 0 for many in each)
    for name in _COUNTED:
        held = getattr(result, name, None)
        if isinstance(held, tuple):
            return len(held)
    return 1 if hasattr(result, "revision") else None


def _model(operation: str, model: str) -> dict[str, Told]:
    where, _, host = model.partition("@")
    provider, _, name = where.partition(":")
    server, _, port = host.rpartition(":") if host.rpartition(":")[2].isdecimal() else (host, "", "")
    known: dict[str, Told] = {OPERATION: operation, PROVIDER: provider, MODEL: name, SERVER: server}
    return known | {PORT: int(port)} if port else known


def _error_of(learnt: Mapping[str, Told]) -> dict[str, Told]:
    return {ERROR: learnt[ERROR]} if ERROR in learnt else {}
