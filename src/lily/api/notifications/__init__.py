"""What the routes of notifications share: lists, and explanations."""
