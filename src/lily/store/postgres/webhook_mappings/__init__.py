"""Mappings of webhooks: what a tenant has stored about how the messages of its sources become incidents."""
