"""Changes as they happen, for browsers and tools that listen on a WebSocket."""
