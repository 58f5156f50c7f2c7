"""The built-in formats of bulk bodies, one module each. They are found by their entry points, like installed ones."""
