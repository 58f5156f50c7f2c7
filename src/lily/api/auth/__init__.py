"""Authentication, and the check that protective tags are removed only with authority."""
