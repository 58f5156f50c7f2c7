"""Enforcement: the targets of each tenant, what they have to enforce, and what they have confirmed."""
