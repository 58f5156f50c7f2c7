"""The doors: REST and WebSocket. A door authenticates, validates and appends to the log; it writes no asset itself."""
