"""Built-in enforcers: each is found through its entry point and imports neither the other ones nor Lily's engines."""
