"""SQL that runs executed: the jobs that analyze it, and what is known of the tables that it names."""
