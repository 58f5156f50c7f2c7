"""What every HTTP request passes through: uvicorn, the middleware, the request log, and path decoding."""
