"""The same backlogs through a Spark cluster of one worker and of two, with a core each: which rate, at what price.

A test asserts no duration. What is asserted is that each event was applied once and that each worker had its share; the
figures are printed, for docs/capacity.md.
"""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from bench.events import TENANT
from tests.cluster.measured_parts import Cost, Passed, Pipeline
from tests.cluster.site import pipeline
from tests.cluster.spark_cluster import spark_cluster
from tests.faults.own_stack import OwnStack, own_stack

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(1800)]

EVENTS, WARM_UPS, ROUNDS = 20_000, 3, 4  # of each cluster; every event changes an asset of its own
EXECUTOR = {"spark.executor.memory": "640m"}
SERIAL = ("driver", "worker")  # one process each, however many executors there are: plans batches, publishes changes


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("workers")


@pytest.fixture(scope="module")
def stack(place: Path) -> Iterator[OwnStack]:
    environment = {"LILY_WAREHOUSE": str(place / "warehouse")}
    with own_stack(parts="kafka,postgres,worker,api", environment=environment) as found:
        yield found


def test_two_workers_share_a_backlog_and_apply_each_event_once(
    stack: OwnStack, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured: dict[int, list[Passed]] = {}
    for workers in (1, 2):
        measured[workers] = passed(stack, place / f"of-{workers}", workers)
        with capsys.disabled():
            print(shown(workers, measured[workers]))
    with psycopg.connect(stack.database) as connection:
        of_assets = "select count(*) from changes where tenant_id = %s group by asset_id"
        changes = [count for (count,) in connection.execute(of_assets, [TENANT]).fetchall()]
    assert changes == [len(measured) * (WARM_UPS + ROUNDS)] * EVENTS  # of each asset: one change per event
    with capsys.disabled():
        print(compared(*measured.values()))


def passed(stack: OwnStack, place: Path, workers: int) -> list[Passed]:
    """The rounds that count. Both workers have had tasks, in the warm-up and since."""
    place.mkdir()
    with (
        spark_cluster(place, workers) as cluster,
        pipeline(stack, place, cluster.variables, EXECUTOR, queries="hot") as driver,
    ):
        found = Pipeline(stack, cluster, driver)
        for _ in range(WARM_UPS):
            found.pass_through(EVENTS)
        before = found.task_seconds()
        rounds = [found.pass_through(EVENTS) for _ in range(ROUNDS)]
        assert len(before) == workers
        assert all(later > earlier > 0 for earlier, later in zip(before, found.task_seconds(), strict=True))
        assert "query failed" not in driver.log.read_text()
    return rounds


def shown(workers: int, rounds: list[Passed]) -> str:
    """The best round, and the cheapest of each part."""
    costs = ", ".join(f"{part} {cost:.1f}" for part, cost in cheapest(rounds).items())
    return f"\n{workers} worker(s): {fastest(rounds):,.0f} events/s; processor time per event in µs: {costs}"


def compared(one: list[Passed], two: list[Passed]) -> str:
    """With the serial part that is the next limit."""
    costs = cheapest(two)
    serial = max(SERIAL, key=lambda part: costs[part])
    limit = f"{serial}, at most {1e6 / costs[serial]:,.0f} events/s on a core of its own"
    return f"two workers against one: {fastest(two) / fastest(one):.2f}; the next serial part: {limit}"


def fastest(rounds: list[Passed]) -> float:
    return max(one.rate for one in rounds)


def cheapest(rounds: list[Passed]) -> Cost:
    return {part: min(one.cost[part] for one in rounds) for part in rounds[0].cost}
