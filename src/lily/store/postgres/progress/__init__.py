"""How far the log has been applied, and how far a write has propagated."""
