"""Derived attributes: applying propagation rules, and explaining the values they set."""
