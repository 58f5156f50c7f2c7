"""What `pip install` brings: the client alone, or with extras the parts of the stack."""
