"""Protective tags: which events on edges would stop one, and the audit of those that ended."""
