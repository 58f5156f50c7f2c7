"""Events of OpenLineage in few words, and what became of them."""

from typing import Any

from lily.intake.openlineage import Conversion, Naming, convert
from lily.lineage.claims import claims_of
from lily.model import ids
from lily.model.events import AssetEvent
from lily.plugins import Sender

NOW = "2026-11-15T12:00:00.000000Z"
RUN = "0190a6a4-7a3b-7000-8000-000000000001"
DB = "postgres://db:5432"


def converted(event: Any, **sender: Any) -> Conversion:
    return convert(event, Sender("t", "me", **sender), Naming(), received=NOW)


def run_event(**more: Any) -> dict[str, Any]:
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-11-15T11:00:00Z",
        "producer": "https://example.org/producer",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": RUN},
        "job": {"namespace": "airflow", "name": "dag.task"},
        **more,
    }


def dataset(name: str, **facets: Any) -> dict[str, Any]:
    return {"namespace": DB, "name": name, "facets": facets} if facets else {"namespace": DB, "name": name}


def schema(*fields: str) -> dict[str, Any]:
    return {"fields": [{"name": name, "type": "varchar", "description": f"the {name}"} for name in fields]}


def column_lineage(**fields: list[Any]) -> dict[str, Any]:
    return {"fields": {name: {"inputFields": inputs} for name, inputs in fields.items()}}


def field(name: str, column: str, *transformations: Any) -> dict[str, Any]:
    return {"namespace": DB, "name": name, "field": column, "transformations": list(transformations)}


def stated(found: Conversion) -> dict[str, AssetEvent]:
    return {asset.statement.qualified_name: asset for asset in found.assets}


def attributes(found: Conversion, name: str) -> dict[str, Any]:
    return stated(found)[name].statement.attributes


def claims(found: Conversion) -> dict[tuple[str, str, str], bool]:
    """What is claimed, and whether it is masked, with names instead of ids."""
    return {edge: masking for edge, (masking, _) in _claims(found).items()}


def assumed(found: Conversion) -> set[tuple[str, str]]:
    """The edges that only inputs and outputs suggest."""
    return {(start, end) for (start, end, _), (_, is_assumed) in _claims(found).items() if is_assumed}


def _claims(found: Conversion) -> dict[tuple[str, str, str], tuple[bool, bool]]:
    names = {ids.asset_id("t", name): name for name in stated(found)}
    assert found.claims is not None
    return {
        (names[key.from_id], names[key.to_id], key.type): (masking, is_assumed)
        for key, masking, is_assumed in claims_of(found.claims)
    }
