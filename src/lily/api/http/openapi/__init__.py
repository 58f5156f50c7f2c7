"""The OpenAPI document, and the request and response models and examples that it is made of."""
