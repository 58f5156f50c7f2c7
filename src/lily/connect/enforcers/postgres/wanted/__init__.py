"""What a target should look like: decisions as the access of each role, and that as privileges, views and policies."""
