"""What reactions store: their offsets, parked events and dead letters."""
