"""What ended without authority: the list of it, and the decisions about it."""
