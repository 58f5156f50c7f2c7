"""Runs the examples of README.md and docs/, page by page and in order, against the stack that all tests share."""
