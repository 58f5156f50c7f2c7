"""What tenants define: tags, propagation rules, settings."""
