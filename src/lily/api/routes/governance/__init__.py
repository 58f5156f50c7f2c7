"""Governance: tag definitions, propagation rules, tenant settings, and the state of propagation."""
