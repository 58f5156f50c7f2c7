"""Deliberate faults, one at a time, and the tests that have to notice each of them: `python -m tests.mutants`."""
