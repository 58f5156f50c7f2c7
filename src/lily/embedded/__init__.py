"""The embedded stack: a real Kafka, a real PostgreSQL and Lily's own processes on one machine.

Read `stack` first (which parts make a stack), then `supervision` (how they are kept running), then the parts:
`kafka`, `postgres`, `services`.
"""
