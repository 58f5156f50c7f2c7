"""Incidents, and the webhooks of other systems that report them."""
