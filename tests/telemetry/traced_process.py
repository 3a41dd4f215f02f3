"""A process that has OpenTelemetry loaded and set up, spends a day with lamina, and prints what it was told."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from full_day import FullDay
from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


def main(root: Path) -> None:
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(provider)
    metrics.set_meter_provider(MeterProvider([reader]))
    day = FullDay(root)
    day.spend()
    result = reader.get_metrics_data()
    assert result is not None
    print(
        json.dumps(
            {
                "spans": [_span_document(span) for span in spans.get_finished_spans()],
                "metrics": json.loads(result.to_json()),
                "words": day.canaries.made,
                "ids": sorted(day.ids),
            }
        )
    )


def _span_document(span: ReadableSpan) -> dict[str, object]:
    context = span.get_span_context()
    assert context is not None
    return {
        "name": span.name,
        "kind": span.kind.name,
        "attributes": dict(span.attributes or {}),
        "status": span.status.status_code.name,
        "description": span.status.description,
        "events": [[event.name, dict(event.attributes or {})] for event in span.events],
        "id": context.span_id,
        "parent": span.parent.span_id if span.parent else None,
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
