"""The default stack: a real Kafka, a real PostgreSQL and Lily's own processes, supervised on one machine.

Read `stack` (what belongs together), `supervisor` and `supervised` (how it is kept alive), then the parts: `kafka`,
`postgres`, `services`.
"""
