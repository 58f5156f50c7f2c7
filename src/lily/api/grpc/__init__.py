"""The gRPC door, on a port of its own in the API's process: the same parts, checks and events as REST."""
