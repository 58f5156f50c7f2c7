"""The outbox: batches of committed changes that the relay publishes."""
