"""The built-in transforms, one module each. They are found by their entry points, like installed ones."""
