"""What follows a committed change: consumers of the change log, and the relay that fills it."""
