"""Real producers of OpenLineage events: the environments that they run in, and what they run."""
