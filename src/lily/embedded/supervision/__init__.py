"""Keeps the parts of a stack running: `part` (the port), `supervised_part` (one process), `supervisor` (all of them),
`shutdown` and `orphans` (stopping them from outside)."""
