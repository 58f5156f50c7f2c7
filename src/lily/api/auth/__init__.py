"""Who is calling, and what a caller may take away."""
