"""What each kind of statement does with data: which table it writes, and from which rows."""
