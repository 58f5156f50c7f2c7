"""The built-in formats of bulk bodies, one module each. They are found like foreign ones: by their entry points."""
