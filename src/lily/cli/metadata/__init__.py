"""Commands about the catalogue: loading and refreshing it, incidents and notifications, quality, planning."""
