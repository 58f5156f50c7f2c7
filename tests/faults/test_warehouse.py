"""A warehouse that cannot be written: the hot lane does not notice, nothing is lost, and it mends by itself."""

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from lily.embedded.bootstrap import admin_token
from tests.faults.own_stack import OwnStack, own_stack

pytestmark = pytest.mark.faults

COLUMNS = [f"shop.public.orders.c{number}" for number in range(50)]
PATIENCE_SECONDS = 90
NDJSON = {"Content-Type": "application/x-ndjson"}


@pytest.fixture
def broken() -> Iterator[Path]:
    """A place below which nothing can be made: it is a file. (To root every directory can be written.)"""
    with tempfile.TemporaryDirectory(prefix="lily-warehouse-") as directory:
        place = Path(directory, "warehouse")
        place.write_text("not a directory")
        yield place


def test_the_hot_lane_goes_on_and_the_lake_catches_up_once_it_can_be_written(broken: Path) -> None:
    with own_stack(environment={"LILY_WAREHOUSE": str(broken), "LILY_LAKE__TRIGGER_SECONDS": "0.5"}) as stack:
        headers = {"Authorization": f"Bearer {admin_token(stack.data_dir)}"}
        with httpx.Client(base_url=stack.url, headers=headers, timeout=60) as http:
            rows = [_body("column", name) for name in COLUMNS]
            taken = http.post("/ingest-metadata/bulk", content="\n".join(map(json.dumps, rows)), headers=NDJSON)
            assert taken.json()["accepted"] == len(COLUMNS)
            for number in range(5):
                told = http.post(
                    "/ingest-metadata", json=_body("table", f"shop.public.t{number}"), headers={"Prefer": "wait=30"}
                )
                assert told.status_code == 200, told.text
            assert _complains(stack), "nothing in the pipeline's log says that the lake cannot be written"
            assert http.get(f"/metadata/{COLUMNS[0]}").status_code in (404, 503)

            broken.unlink()
            broken.mkdir()

            deadline = time.monotonic() + PATIENCE_SECONDS
            while missing := [name for name in COLUMNS if http.get(f"/metadata/{name}").status_code != 200]:
                assert time.monotonic() < deadline, f"{len(missing)} columns were lost"
                time.sleep(1)
        stack.wait_until_settled()


def _body(entity_type: str, name: str) -> dict[str, object]:
    attributes = {"name": name.rpartition(".")[2], "qualified_name": name, "parent": name.rpartition(".")[0]}
    return {"entity_type": entity_type, "attributes": attributes}


def _complains(stack: OwnStack) -> bool:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        log = (stack.data_dir / "logs" / "pipeline.log").read_text()
        if any('"query":"lake"' in line and '"level":"error"' in line for line in log.splitlines()):
            return True
        time.sleep(0.5)
    return False
