"""A stack whose pipeline runs elsewhere, and a way in."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import orjson

from lily.embedded.bootstrap import TENANT, admin_token, master_key_of, url_for_role
from lily.embedded.jars import jars_dir
from lily.embedded.ports import choose_ports
from lily.embedded.probes import http_ready
from tests.cluster.processes import Program, running
from tests.cluster.spark_cluster import HOST, wait_until
from tests.faults.own_stack import OwnStack

START_SECONDS = 300.0  # for the driver, its executors and their Python on a busy machine
LANES = {"LILY_LAKE__TRIGGER_SECONDS": "1", "LILY_LAKE__YIELD_EVENTS": "1000000"}


@dataclass(frozen=True)
class Door:
    """The API, as the admin of the tenant that every stack begins with."""

    http: httpx.Client
    tenant: str = TENANT

    def send(self, rows: Sequence[Mapping[str, Any]], wait: int = 0) -> httpx.Response:
        headers = {"Content-Type": "application/x-ndjson"} | ({"Prefer": f"wait={wait}"} if wait else {})
        body = b"\n".join(map(orjson.dumps, rows))
        answer = self.http.post("/ingest-metadata/bulk", content=body, headers=headers)
        assert (answer.json()["accepted"], answer.json()["rejected"]) == (len(rows), 0), answer.text
        return answer

    def read(self, reference: str) -> dict[str, Any]:
        answer = self.http.get(f"/metadata/{reference}")
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def children(self, parent: str) -> set[str]:
        answer = self.http.get("/metadata", params={"parent": parent, "limit": 1000})
        assert answer.status_code == 200, answer.text
        return {item["attributes"]["qualified_name"] for item in answer.json()["items"]}


@contextmanager
def door(stack: OwnStack) -> Iterator[Door]:
    headers = {"Authorization": f"Bearer {admin_token(stack.data_dir)}"}
    with httpx.Client(base_url=stack.url, headers=headers, timeout=120) as http:
        yield Door(http)


@contextmanager
def pipeline(
    stack: OwnStack, place: Path, environment: Mapping[str, str], spark: Mapping[str, str], queries: str = ""
) -> Iterator[Program]:
    """`lily pipeline` as a deployment starts it; yields once it is ready."""
    name = f"pipeline-{queries or 'both'}"
    port = choose_ports([name], {})[name]
    settings = {
        "LILY_DATA_DIR": str(place / name),
        **stack.kafka.variables_of("pipeline"),
        "LILY_DATABASE_URL": url_for_role(stack.database, "lily_pipeline", stack.state.passwords["lily_pipeline"]),
        "LILY_JARS_DIR": str(jars_dir()),
        "LILY_MASTER_KEY_FILE": str(master_key_of(stack.data_dir)),
        "LILY_METRICS_PORT": str(port),
        "LILY_SPARK_OPTIONS": json.dumps({"spark.driver.host": HOST, "spark.driver.bindAddress": HOST, **spark}),
        **LANES,
        **environment,
    }
    argv = (sys.executable, "-m", "lily", "pipeline", *(("--queries", queries) if queries else ()))
    with running(name, argv, settings, place / "logs") as program:
        wait_until(lambda: http_ready(port) or not program.alive, program.last_words, START_SECONDS)
        assert program.alive, program.last_words()
        yield program
