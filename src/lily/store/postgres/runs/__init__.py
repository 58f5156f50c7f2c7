"""Runs of jobs: what their events add up to."""
