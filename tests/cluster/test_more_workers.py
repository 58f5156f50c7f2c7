"""The same backlogs through a Spark cluster of one worker and of two, with a core each: which rate, at what price.

A test asserts no duration. What is asserted is that each event was applied once and that each worker had its share; the
figures are printed, for docs/capacity.md.
"""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from bench.events import TENANT
from tests.cluster.measured_parts import Passed, Pipeline
from tests.cluster.site import pipeline
from tests.cluster.spark_cluster import spark_cluster
from tests.faults.own_stack import OwnStack, own_stack

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(900)]

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
    measured = {workers: passed(stack, place / f"of-{workers}", workers) for workers in (1, 2)}
    with psycopg.connect(stack.database) as connection:
        of_assets = "select count(*) from changes where tenant_id = %s group by asset_id"
        changes = [count for (count,) in connection.execute(of_assets, [TENANT]).fetchall()]
    assert changes == [len(measured) * (WARM_UPS + ROUNDS)] * EVENTS  # of each asset: one change per event
    with capsys.disabled():
        print(report(measured))


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


def report(measured: dict[int, list[Passed]]) -> str:
    """The best round of each cluster, the cheapest of each part, and the serial part that is the next limit."""
    lines = [""]
    for workers, rounds in measured.items():
        costs = {part: min(one.cost[part] for one in rounds) for part in rounds[0].cost}
        shown = ", ".join(f"{part} {cost:.1f}" for part, cost in costs.items())
        best = max(one.rate for one in rounds)
        lines.append(f"{workers} worker(s): {best:,.0f} events/s; processor time per event in µs: {shown}")
    one, two = (max(passed.rate for passed in rounds) for rounds in measured.values())
    serial = max(SERIAL, key=lambda part: costs[part])
    limit = f"{serial}, at {1e6 / costs[serial]:,.0f} events/s on a core of its own"
    return "\n".join([*lines, f"two workers against one: {two / one:.2f}; the next serial part: {limit}"])
