"""Vendors as servers on loopback: each refuses what the real one refuses, with its documented errors."""
