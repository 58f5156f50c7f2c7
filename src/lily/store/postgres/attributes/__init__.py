"""Derived attributes: running propagation rules, and explaining what they set."""
