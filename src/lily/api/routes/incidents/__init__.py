"""Incidents, what they put at risk, and the webhooks of other systems that report them."""
