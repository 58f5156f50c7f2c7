"""What follows a committed change: the relay that fills the change log, and the reactions that read it."""
