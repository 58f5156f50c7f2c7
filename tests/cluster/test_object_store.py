"""The lake in an object store: written, compacted and kept tidy there, and read from there."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from lily.settings import S3
from lily.store.lake.data_files import io_properties
from lily.store.lake.tables import ASSETS, EVENTS
from tests import oracle
from tests.cluster import contents
from tests.cluster.object_store import BUCKET, object_store
from tests.cluster.site import LANES, Door, door
from tests.cluster.spark_cluster import wait_until
from tests.faults.own_stack import OwnStack, own_stack

pytestmark = [pytest.mark.cluster, pytest.mark.timeout(400)]

TABLE = "shop.public.orders"
BATCHES, AT_ONCE = 10, 20
TIDY_SECONDS = 120.0
UNRESTING = {  # compaction and maintenance after every batch, and nothing kept longer than it must be
    "LILY_LAKE__MERGE_RUNS": "3",
    "LILY_LAKE__MAINTAIN_MINUTES": "0",
    "LILY_LAKE__KEEP_HOURS": "0",
}


@dataclass(frozen=True)
class Site:
    stack: OwnStack
    door: Door
    properties: dict[str, str]

    def files(self, table: str) -> int:
        return len(list(contents.lake_table(self.stack.database, table, self.properties).scan().plan_files()))

    def snapshots(self, table: str) -> int:
        return len(contents.lake_table(self.stack.database, table, self.properties).snapshots())

    def is_tidy(self) -> bool:
        """Whether both tables have fewer files, and fewer snapshots, than there were batches."""
        return all(max(self.files(table), self.snapshots(table)) < BATCHES for table in (ASSETS, EVENTS))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with (
        object_store(tmp_path_factory.mktemp("store")) as s3,
        own_stack(environment=environment(s3)) as stack,
        door(stack) as entrance,
    ):
        yield Site(stack, entrance, io_properties(s3))


def environment(s3: S3) -> dict[str, str]:
    store = {f"LILY_S3__{name.upper()}": value for name, value in s3.model_dump().items()}
    return {
        "LILY_WAREHOUSE": f"s3://{BUCKET}/warehouse",
        "LILY_SPARK_MASTER": "local[2]",
        **store,
        **LANES,
        **UNRESTING,
    }


def body(batch: int) -> list[dict[str, Any]]:
    """A table and some of its columns, of which the first is stated in every batch."""
    numbers = [0, *range(batch * AT_ONCE + 1, (batch + 1) * AT_ONCE)]
    columns = [
        {"name": f"c{at}", "qualified_name": f"{TABLE}.c{at}", "parent": TABLE, "batch": batch} for at in numbers
    ]
    table = {"name": "orders", "qualified_name": TABLE, f"batch_{batch}": True}
    return [
        {"entity_type": "table", "attributes": table},
        *({"entity_type": "column", "attributes": column} for column in columns),
    ]


def test_both_lanes_are_readable_when_the_store_is_remote(site: Site) -> None:
    for batch in range(BATCHES):
        assert site.door.send(body(batch), wait=60).status_code == 200
    stated = {row["attributes"]["qualified_name"] for batch in range(BATCHES) for row in body(batch)[1:]}
    assert site.door.children(TABLE) == stated
    assert site.door.read(f"{TABLE}.c0")["attributes"]["batch"] == BATCHES - 1
    assert site.door.read(TABLE)["attributes"]["batch_0"] is True


def test_the_remote_tables_are_kept_tidy_and_hold_what_the_log_held(site: Site) -> None:
    wait_until(site.is_tidy, lambda: (site.stack.data_dir / "logs" / "pipeline.log").read_text()[-8000:], TIDY_SECONDS)
    log = contents.in_log(site.stack.kafka.client)
    assert sorted(contents.events_in_lake(site.stack.database, site.properties)) == sorted(log.items())
    assert contents.assets_in_lake(site.stack.database, site.properties) == oracle.catalogue(contents.as_events(log))
    assert "compaction failed" not in (site.stack.data_dir / "logs" / "pipeline.log").read_text()
