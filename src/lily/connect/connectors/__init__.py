"""The built-in connectors, one module each. They are found like foreign ones: by their entry points."""
