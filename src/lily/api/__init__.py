"""REST, WebSocket and gRPC. The API authenticates, validates and appends to the log; it writes no asset itself."""
