"""What incidents put at risk: marking it, and reading it."""
