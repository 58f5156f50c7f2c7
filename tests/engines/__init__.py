"""Lily against the servers of others. They are downloaded once, into the user's cache (`make test-engines`)."""
