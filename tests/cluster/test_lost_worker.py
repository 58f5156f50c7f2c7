"""Both lanes on a cluster of two workers, one of which dies in the middle of the work."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from lily.estate import Estate
from lily.model import ids
from lily.model.lanes import lane_of
from tests import oracle
from tests.cluster import contents
from tests.cluster.processes import Program
from tests.cluster.site import Door, door, pipeline
from tests.cluster.spark_cluster import Cluster, spark_cluster, wait_until
from tests.faults.own_stack import OwnStack, own_stack
from tests.integration.test_convergence import comparable, stored

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]

EVENTS, AT_ONCE = 6_000, 400
EXECUTOR = {"spark.executor.memory": "640m"}
EXECUTOR_CLASS = "org.apache.spark.executor.CoarseGrainedExecutorBackend"


@dataclass(frozen=True)
class Site:
    stack: OwnStack
    cluster: Cluster
    pipeline: Program
    door: Door


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    place = tmp_path_factory.mktemp("cluster")
    shared = {"LILY_WAREHOUSE": str(place / "warehouse")}
    with (
        own_stack(parts="kafka,postgres,worker,api", environment=shared) as stack,
        spark_cluster(place) as cluster,
        pipeline(stack, place, {**shared, **cluster.variables}, EXECUTOR) as driver,
        door(stack) as entrance,
    ):
        yield Site(stack, cluster, driver, entrance)


def has_executor(worker: Program) -> bool:
    return any(EXECUTOR_CLASS in process.cmdline() for process in worker.members())


def test_nothing_is_lost_or_doubled_when_a_worker_dies_under_load(site: Site) -> None:
    assert all(has_executor(worker) for worker in site.cluster.workers)
    rows = list(Estate(EVENTS, seed=11).events())
    column = next(row["attributes"] for row in rows if row["entity_type"] == "column")
    bodies = [rows[start : start + AT_ONCE] for start in range(0, EVENTS, AT_ONCE)]

    assert site.door.send(bodies[0], wait=60).status_code == 200
    for number, body in enumerate(bodies[1:]):
        site.door.send(body)
        if number == len(bodies) // 3:
            site.cluster.workers[0].kill()
    tagged = ids.asset_id(site.door.tenant, column["qualified_name"])
    assert site.door.http.post(f"/metadata/{tagged}/tags", json={"tag": "PII"}).status_code == 202
    site.stack.wait_until_settled()

    wait_until(lambda: site.cluster.living_workers() == 1, site.cluster.last_words)
    assert site.pipeline.alive, site.pipeline.last_words()
    assert "query failed" not in site.pipeline.log.read_text()
    log = contents.in_log(site.stack.kafka.client)
    events = contents.as_events(log)
    expected = oracle.catalogue(events)
    hot = {(event.tenant, event.statement.qualified_name) for event in events if lane_of(event) == "hot"}
    assert len(events) == EVENTS + 1
    assert sorted(contents.events_in_lake(site.stack.database)) == sorted(log.items())
    assert contents.assets_in_lake(site.stack.database) == expected
    assert comparable(stored(site.stack.database, site.door.tenant)) == {name: expected[name] for name in hot}


def test_what_the_cluster_wrote_is_read_through_the_api(site: Site) -> None:
    rows = [row["attributes"] for row in Estate(EVENTS, seed=11).events()]
    parent = rows[-1]["parent"]
    siblings = {row["qualified_name"] for row in rows if row.get("parent") == parent}
    assert site.door.children(parent) == siblings
    assert site.door.read(parent)["attributes"]["qualified_name"] == parent


def test_one_worker_is_enough_to_go_on(site: Site) -> None:
    late = {"name": "late", "qualified_name": "shop.public.late", "description": "after the loss"}
    answer = site.door.send([{"entity_type": "table", "attributes": late}], wait=60)
    assert answer.status_code == 200
    assert site.door.read("shop.public.late")["attributes"]["description"] == "after the loss"
