"""Usage of assets, and the policies that watch it."""
