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
    window_seconds: float  # of load, of which three in a row must agree before it is measured
    warm_up_seconds: float  # after which it is measured all the same
    growth_from: int
    growth_times: int
    growth_seconds: float
    http_seconds: float
    new_tables: int  # of a new tenant, in one request
    lake_rounds: int
    lake_backlog: int  # columns that the lake has to catch up with at a time
    lake_backlogs: int  # of one round, one after the other into the same table
    lake_warm_ups: int  # backlogs before the first that counts
    lake_pool: int  # columns in the lake while reads are measured; there may be more
    lake_read_seconds: float
    search_columns: int  # in the lake while searches are measured; there may be more
    flood_rounds: int
    flood_columns: int
    flood_rate: int  # columns a second
    flood_hot_rates: tuple[int, ...]  # events a second in the hot lane meanwhile
    flood_seconds: float  # at each of them
    tenant_flood_rate: int  # events a second
    soak_minutes: int
    soak_rate: int  # events a second
    soak_every: int  # seconds between two looks
    reached: int  # assets that a tag reaches
    reached_many: int
    origins: int
    chain: int
    hub: int
    graphs: tuple[int, ...]  # datasets around the one whose lineage is read
    others: int  # assets and edges that have nothing to do with them
    openlineage_events: int  # of new jobs in one round, and as many of their next runs
    sql_models: int  # of a dbt project, in one script
    edge_writes: int
    policies: int
    policy_checks: int
    cedar_checks: int  # of these, in each round: cedarpy takes its time
    many_policies: int
    many_users: int
    enforced_columns: int  # of a target database
    notifications: int  # of one round
    outage_seconds: float  # of one target
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
    window_seconds=15,
    warm_up_seconds=420,
    growth_from=50_000,
    growth_times=10,
    growth_seconds=10,
    http_seconds=5,
    new_tables=100_000,
    lake_rounds=3,
    lake_backlog=100_000,
    lake_backlogs=10,
    lake_warm_ups=2,
    lake_pool=200_000,
    lake_read_seconds=15,
    search_columns=900_000,
    flood_rounds=3,
    flood_columns=1_000_000,
    flood_rate=20_000,
    flood_hot_rates=(1_000, 10_000),
    flood_seconds=20,
    tenant_flood_rate=20_000,
    soak_minutes=45,
    soak_rate=2_000,
    soak_every=60,
    reached=10_000,
    reached_many=100_000,
    origins=1_000,
    chain=10_000,
    hub=100_000,
    graphs=(400, 2_000),
    others=1_000_000,
    openlineage_events=20_000,
    sql_models=500,
    edge_writes=100_000,
    policies=100,
    policy_checks=100_000,
    cedar_checks=20_000,
    many_policies=10_000,
    many_users=100_000,
    enforced_columns=10_000,
    notifications=20_000,
    outage_seconds=600,
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
    window_seconds=3,
    warm_up_seconds=45,
    growth_from=10_000,
    growth_times=10,
    growth_seconds=5,
    http_seconds=2,
    new_tables=5_000,
    lake_rounds=1,
    lake_backlog=20_000,
    lake_backlogs=2,
    lake_warm_ups=1,
    lake_pool=40_000,
    lake_read_seconds=2,
    search_columns=40_000,
    flood_rounds=1,
    flood_columns=200_000,
    flood_rate=20_000,
    flood_hot_rates=(200, 1_000),
    flood_seconds=3,  # too short for a p99 that can be compared: the slowest tracers come from one batch
    tenant_flood_rate=5_000,
    soak_minutes=2,
    soak_rate=1_000,
    soak_every=15,
    reached=2_000,
    reached_many=10_000,
    origins=100,
    chain=500,
    hub=5_000,
    graphs=(400, 2_000),
    others=100_000,
    openlineage_events=400,
    sql_models=50,
    edge_writes=10_000,
    policies=100,
    policy_checks=10_000,
    cedar_checks=5_000,
    many_policies=10_000,
    many_users=100_000,
    enforced_columns=1_000,
    notifications=2_000,
    outage_seconds=10,
    idle_after=15,
    idle_window=5,
)
