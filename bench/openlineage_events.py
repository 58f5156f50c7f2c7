"""OpenLineage events as a Spark or Airflow job would send them: about 5.5 KB each.

A job reads two tables and writes one; each has ten columns with type and description, and every column of the output
comes from one column of each input. Facets carry their producer and schema, as those of the official clients do.
"""

import uuid
from typing import Any

import orjson

from lily.model import clock

NAMESPACE = "postgres://db.example.org:5432"
COLUMNS = tuple(f"column_{number}" for number in range(10))
DATASETS, ASSETS = 3, 4  # of one event; the job is an asset too
EDGES = 2 + 2 * len(COLUMNS)
_PRODUCER = "https://example.org/jobs/1.2.3"
_FACETS = "https://openlineage.io/spec/facets/1-0-0"


def table(number: int, place: int) -> str:
    return f"shop.job_{number}.table_{place}"


def event(number: int) -> bytes:
    """A completed run, just now, of the job of that number, which shares no dataset with any other."""
    inputs = [_dataset(number, place) for place in range(DATASETS - 1)]
    output = _dataset(number, DATASETS - 1, columnLineage=_lineage(number))
    return orjson.dumps(
        {
            "eventType": "COMPLETE",
            "eventTime": clock.now(),
            "producer": _PRODUCER,
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
            "run": {"runId": str(uuid.uuid4())},
            "job": {"namespace": "bench", "name": f"job_{number}"},
            "inputs": inputs,
            "outputs": [output],
        }
    )


def _dataset(number: int, place: int, **more: Any) -> dict[str, Any]:
    fields = [{"name": name, "type": "varchar(64)", "description": f"The {name}"} for name in COLUMNS]
    facets = {"schema": _facet("SchemaDatasetFacet", fields=fields), **more}
    return {"namespace": NAMESPACE, "name": table(number, place), "facets": facets}


def _lineage(number: int) -> dict[str, Any]:
    fields = {
        name: {
            "inputFields": [
                {"namespace": NAMESPACE, "name": table(number, place), "field": name} for place in range(DATASETS - 1)
            ]
        }
        for name in COLUMNS
    }
    return _facet("ColumnLineageDatasetFacet", fields=fields)


def _facet(name: str, **more: Any) -> dict[str, Any]:
    return {"_producer": _PRODUCER, "_schemaURL": f"{_FACETS}/{name}.json#/$defs/{name}", **more}
