"""Routes about refreshes of data sources: their schedules, and the runs."""
