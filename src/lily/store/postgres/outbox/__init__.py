"""The outbox: batches of committed changes on their way to the change log, and dead letters."""
