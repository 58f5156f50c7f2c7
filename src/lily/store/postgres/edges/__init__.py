"""Edges: merging what is stated about them, and what the runs of jobs claim."""
