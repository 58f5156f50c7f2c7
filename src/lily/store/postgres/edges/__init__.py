"""Edges: merging statements about them and the claims of jobs' runs, and reading them."""
