"""Pulls metadata: a recipe names a connector and transforms, one run sends what they state to Lily."""
