"""Pulls metadata: a recipe names a connector and transforms; a run sends their statements to Lily."""
