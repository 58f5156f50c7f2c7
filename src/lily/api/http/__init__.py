"""HTTP: request bodies, errors, cursors and query parameters; the OpenAPI document; the server."""
