"""What reactions record: how far they have read, whose events wait, and what they could not handle."""
