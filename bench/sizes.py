"""How much is measured: the real thing, or a quick look that only shows that everything runs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sizes:
    rounds: int
    starts: int
    pool: int  # assets in the catalogue while the hot lane, reads and doors are measured
    backlog: int  # events the hot lane has to catch up with in one round; at most one an asset
    single_commits: int
    rate: int  # events a second
    steady_seconds: float
    growth_from: int
    growth_times: int
    growth_seconds: float
    http_seconds: float
    idle_after: float  # seconds between the last load and the look at the idle stack
    idle_window: float  # seconds of one round


FULL = Sizes(
    rounds=5,
    starts=3,
    pool=100_000,
    backlog=100_000,
    single_commits=3_000,
    rate=10_000,
    steady_seconds=30,
    growth_from=50_000,
    growth_times=10,
    growth_seconds=10,
    http_seconds=5,
    idle_after=300,
    idle_window=12,
)
QUICK = Sizes(
    rounds=2,
    starts=1,
    pool=20_000,
    backlog=20_000,
    single_commits=500,
    rate=10_000,
    steady_seconds=6,
    growth_from=10_000,
    growth_times=10,
    growth_seconds=5,
    http_seconds=2,
    idle_after=15,
    idle_window=5,
)
