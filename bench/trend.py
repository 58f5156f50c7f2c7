"""How a size develops over a soak: flat, bounded, or growing, with what bounds it in the end."""

from collections.abc import Sequence
from statistics import fmean

from bench.findings import BenchError

WITHIN = 0.02  # of the middle third
FLAT, BOUNDED, GROWS = "flat", "bounded", "grows"
FEWEST = 6


def trend(values: Sequence[float], negligible: float) -> str:
    """`flat` if the last third is on average no larger than the middle one, by 2 % or by what is negligible;
    `bounded` if it does not exceed the largest value before it, as of what is cut now and then; else `grows`. The first
    third is how it begins. Raises BenchError if there are too few values to say."""
    if len(values) < FEWEST:
        raise BenchError(f"{len(values)} looks are too few: a trend needs {FEWEST}")
    third = len(values) // 3
    middle, last = values[third : 2 * third], values[-third:]
    if fmean(last) <= fmean(middle) * (1 + WITHIN) + negligible:
        return FLAT
    return BOUNDED if max(last) <= max(values[:-third]) else GROWS
