"""What engines call to learn what their users may do; targets that Lily keeps in line, and their receipts."""
