"""Lily, a near-real-time metadata platform."""

__version__ = "0.1.0"
