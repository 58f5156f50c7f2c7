"""The capacity plan behind `lily cost`: sizes and costs computed from measured figures and prices.

Pure arithmetic: it starts no engine and uses no network.
"""

from lily.capacity.demand import Demand
from lily.capacity.figures import BadFigures
from lily.capacity.measured import Measured, read_measured
from lily.capacity.plan import Part, Plan, make_plan
from lily.capacity.prices import Prices, read_prices

__all__ = ["BadFigures", "Demand", "Measured", "Part", "Plan", "Prices", "make_plan", "read_measured", "read_prices"]
