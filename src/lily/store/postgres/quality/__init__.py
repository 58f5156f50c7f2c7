"""Quality policies and what they found."""
