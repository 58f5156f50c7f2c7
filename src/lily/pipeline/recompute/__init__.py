"""Recomputes everything derived as a Spark job, and compares it with what is stored."""
