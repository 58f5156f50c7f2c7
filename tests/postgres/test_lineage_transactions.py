"""Records of runs are applied in transactions of limited size, each with its own offsets."""

import uuid
from collections.abc import Callable

import orjson
import psycopg
import pyarrow as pa
import pytest

from lily.bus import topics
from lily.intake.openlineage import Naming, convert
from lily.model import clock
from lily.pipeline.hot import task
from lily.plugins import Sender
from tests.lineage_world import World
from tests.postgres.migrated import Migrated
from tests.stream.trial import RECEIVED
from tests.task_lake import KAFKA

OFFSET = 7_000_000


def run_of(tenant: str, job: str, inputs: int, outputs: int) -> tuple[bytes, bytes]:
    """The record of a run whose outputs are each assumed to be derived from every input."""
    event = {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-01T00:00:00.000000Z",
        "producer": "https://example.com/etl",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": str(uuid.uuid4())},
        "job": {"namespace": "etl", "name": job},
        "inputs": [{"namespace": "postgres://db", "name": f"shop.public.{job}_in{at}"} for at in range(inputs)],
        "outputs": [{"namespace": "postgres://db", "name": f"shop.public.{job}_out{at}"} for at in range(outputs)],
    }
    claims = convert(event, Sender(tenant, "etl"), Naming(), received=clock.now()).claims
    assert claims is not None
    return claims.key, orjson.dumps(claims.as_cloudevent())


def row(partition: int, offset: int, record: tuple[bytes, bytes]) -> dict[str, object]:
    key, value = record
    topic = topics.LINEAGE_INTAKE
    return {"topic": topic, "partition": partition, "offset": offset, "timestamp": RECEIVED, "key": key, "value": value}


def test_a_transaction_has_a_limited_number_of_claims_and_one_partition(
    make_world: Callable[[], World], migrated: Migrated, owner: psycopg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task, "CLAIMS_AT_ONCE", 10)
    tenant = make_world().tenant
    first = [row(0, OFFSET + at, run_of(tenant, f"job{at}", 2, 3)) for at in range(5)]  # six claims each
    second = [row(1, OFFSET + at, run_of(tenant, f"other{at}", 1, 1)) for at in range(3)]
    read = pa.RecordBatch.from_pylist([*first, *second], schema=KAFKA)
    (report,) = task.apply_partition(iter([read]), migrated.url_of("lily_pipeline"))
    ranges = owner.execute(
        "select partition, begin_offset - %(offset)s, end_offset - %(offset)s from batches "
        "where topic = %(topic)s and begin_offset >= %(offset)s order by id",
        {"topic": topics.LINEAGE_INTAKE, "offset": OFFSET},
    ).fetchall()
    assert ranges == [(0, 0, 2), (0, 2, 4), (0, 4, 5), (1, 0, 3)]
    assert report.column("events").to_pylist() == [8]
    (edges,) = owner.execute("select count(*) from edges where tenant_id = %s", [tenant]).fetchall()
    assert edges == (5 * 6 + 3,)
    applied = owner.execute(
        "select partition, next_offset - %s from applied where topic = %s order by 1", [OFFSET, topics.LINEAGE_INTAKE]
    )
    assert applied.fetchall() == [(0, 5), (1, 3)]
    again = list(task.apply_partition(iter([read]), migrated.url_of("lily_pipeline")))
    assert again[0].column("changed").to_pylist() == [0]
