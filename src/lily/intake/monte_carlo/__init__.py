"""Monte Carlo: its webhooks about incidents as statements."""

from lily.intake.monte_carlo.intake import MonteCarlo

__all__ = ["MonteCarlo"]
