"""What engines call to learn what their users may do."""
