"""Recomputes all derived tags in a Spark job and compares them with the stored ones."""
