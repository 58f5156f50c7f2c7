"""What describes the API: the home page, the interactive documentation, and the JSON Schemas."""
