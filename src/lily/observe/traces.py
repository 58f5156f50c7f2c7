"""OpenTelemetry traces, when a collector is configured; otherwise spans are no-ops."""

from opentelemetry import propagate, trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

tracer = trace.get_tracer("lily")


def configure(part: str, endpoint: str) -> None:
    if not endpoint:
        return
    provider = TracerProvider(resource=Resource.create({"service.name": f"lily-{part}", "service.namespace": "lily"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces")))
    trace.set_tracer_provider(provider)


def traceparent() -> str:
    """The current span as a W3C traceparent header, to be sent with an event; empty if nothing is traced."""
    carrier: dict[str, str] = {}
    propagate.inject(carrier)
    return carrier.get("traceparent", "")


def context_of(traceparent: str) -> Context:
    return propagate.extract({"traceparent": traceparent} if traceparent else {})
