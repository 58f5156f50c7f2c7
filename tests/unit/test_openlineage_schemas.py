"""In which scope a newer schema of a dataset replaces an older one."""

from typing import Any

import pytest

from lily.model import ids
from tests.openlineage_words import converted, dataset, run_event, schema

SPARK = "https://github.com/OpenLineage/OpenLineage/tree/1.53.0/integration/spark"
NEWER = "https://github.com/OpenLineage/OpenLineage/tree/1.54.0/integration/spark"
TRINO = "https://github.com/trinodb/trino/plugin/trino-openlineage"


def scope(role: str = "outputs", job: str = "app.step", parent: str | None = None, producer: str = SPARK) -> str:
    facets = {"parent": {"run": {"runId": "1"}, "job": {"namespace": "s", "name": parent}}} if parent else {}
    event = run_event(
        producer=producer,
        job={"namespace": "s", "name": job},
        run={"runId": "2", "facets": facets},
        **{role: [dataset("a", schema=schema("x", "y"))]},
    )
    found = converted(event).claims
    assert found is not None
    (stated,) = found.schemas
    assert (stated.dataset_id, stated.columns) == (ids.asset_id("t", "a"), {"a.x": "x", "a.y": "y"})
    return stated.scope


def test_what_a_producer_writes_it_replaces_in_any_job_and_version() -> None:
    assert scope(job="one") == scope(job="two", producer=NEWER)
    assert scope() != scope(producer=TRINO)


def test_what_a_producer_reads_it_replaces_only_in_the_same_application() -> None:
    assert scope("inputs", "app.probe", "app") == scope("inputs", "app.load", "app") == scope("inputs", "app")
    assert scope("inputs", "query-1") != scope("inputs", "query-2")
    assert scope("inputs") != scope("outputs")


@pytest.mark.parametrize("facet", [{}, {"fields": None}, {"_deleted": True}, {"fields": 7}])
def test_without_a_readable_schema_none_is_replaced(facet: dict[str, Any]) -> None:
    found = converted(run_event(inputs=[dataset("b")], outputs=[dataset("a", schema=facet)])).claims
    assert found is not None
    assert found.schemas == ()


def test_an_empty_schema_is_one() -> None:
    found = converted(run_event(outputs=[dataset("a", schema={"fields": []})])).claims
    assert found is not None
    assert [stated.columns for stated in found.schemas] == [{}]


def test_an_event_with_the_longest_names_still_fits_into_one_record() -> None:
    wide = schema(*(f"{'x' * 500}{number}" for number in range(5_000)))
    found = converted(run_event(outputs=[dataset("a", schema=wide)]))
    assert found.claims is not None
    assert found.claims.schemas == ()
    assert [warning.code for warning in found.warnings] == ["TOO_LONG"]
    assert len(found.assets) == 5_002
