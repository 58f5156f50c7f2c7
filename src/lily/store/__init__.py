"""Where metadata rests: PostgreSQL for serving."""
