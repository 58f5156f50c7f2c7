"""What quality rules mean: policies, the days that are compared, and the judgement of an asset, as pure functions."""
