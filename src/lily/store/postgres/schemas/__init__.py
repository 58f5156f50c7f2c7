"""The newest schema of each dataset by each producer, and the retirement of columns that it no longer has."""
