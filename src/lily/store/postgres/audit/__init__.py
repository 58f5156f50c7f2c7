"""The audit: who did what, when and from where. Append-only, and a chain of hashes per tenant."""
