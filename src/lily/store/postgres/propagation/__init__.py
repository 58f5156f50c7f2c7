"""Derived tags: propagating them, and explaining where each comes from."""
