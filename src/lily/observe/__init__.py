"""How Lily is watched: JSON logs, Prometheus metrics, OpenTelemetry traces, health probes."""
