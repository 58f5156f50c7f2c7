"""Protective tags: which statements would take one away, and the audit of those that may."""
