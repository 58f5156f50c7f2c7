"""Decisions: checks, explanations, dry runs, and the log of decisions."""
