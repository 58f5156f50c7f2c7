"""What happened, for the panel and for `explain`, and what the worker notes of it."""
