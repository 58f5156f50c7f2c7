"""The processes of a deployment, each started alone, and what they need on their machine."""
