"""HTTP itself: bodies, errors, cursors, the OpenAPI document, and what surrounds every request."""
