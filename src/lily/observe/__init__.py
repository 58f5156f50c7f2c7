"""Observability: JSON logs, Prometheus metrics, OpenTelemetry traces, health probes."""
