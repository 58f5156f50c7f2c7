"""Protective tags: which events would remove one, and the audit of the authorised ones."""
