"""The table of facets in docs/lineage-from-the-world.md, compared with the official client and with what happens."""

import enum
import importlib
import pkgutil
import types
import typing
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin

import attr
import pytest
from openlineage.client import generated
from openlineage.client.generated import base
from openlineage.client.serde import Serde

from lily.intake.openlineage import Conversion
from tests.openlineage_words import DB, converted, run_event

PAGE = Path(__file__).parents[2] / "docs" / "lineage-from-the-world.md"
HOLDERS = {
    "run": base.RunFacet,
    "job": base.JobFacet,
    "dataset": base.DatasetFacet,
    "input": base.InputDatasetFacet,
    "output": base.OutputDatasetFacet,
}
KINDS = tuple(HOLDERS.values())
DEEPEST = 4  # classes within classes: fields of fields have no end
# Texts that the classes check, or that have to mean something for Lily to use the facet.
TEXTS = {
    "runId": "01941f29-7c00-7000-8000-000000000001",
    "namespace": DB,
    "name": "source",
    "key": "tier",
    "value": "gold",
    "datasetType": "VIEW",
    "lastUpdated": "2026-01-01T00:00:00Z",
    "captureDate": "2026-01-01T00:00:00Z",
}


class Row(NamedTuple):
    holder: str
    facet: str
    name: str
    outcome: str


def rows() -> list[Row]:
    lines = PAGE.read_text().partition("### Every facet")[2].partition("\n## ")[0].splitlines()
    cells = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return [Row(*found[:4]) for found in cells if found[0] in HOLDERS]


def classes() -> dict[str, type[Any]]:
    """Every facet of the specification, by the name of its class."""
    modules = [
        importlib.import_module(f"{generated.__name__}.{one.name}") for one in pkgutil.iter_modules(generated.__path__)
    ]
    return {
        name: found
        for module in modules
        for name, found in vars(module).items()
        if isinstance(found, type) and issubclass(found, KINDS) and found not in KINDS
    }


CLASSES = classes()
ROWS = rows()


def generated_value(kind: Any, name: str, depth: int) -> Any:  # noqa: PLR0911 - one per kind of type
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in {typing.Union, types.UnionType}:
        return generated_value(arguments[0], name, depth)
    if origin is Literal:
        return arguments[0]
    if origin is list:
        return [generated_value(arguments[0], name, depth)] if depth < DEEPEST else []
    if origin is dict:
        return {"x": generated_value(arguments[1], name, depth)} if depth < DEEPEST else {}
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind["DROP"] if "DROP" in kind.__members__ else next(iter(kind))
    if isinstance(kind, type) and attr.has(kind):
        return generated_instance(kind, depth + 1)
    plain = {int: 1, float: 1.5, bool: True}
    return plain[kind] if kind in plain else text(name)


def text(name: str) -> str:
    if name in TEXTS:
        return TEXTS[name]
    return "2026-01-01T00:00:00Z" if "Time" in name else f"https://example.org/{name}"


def generated_instance(cls: type[Any], depth: int = 0) -> Any:
    """An instance with every field set."""
    hints = typing.get_type_hints(cls)
    values = {
        field.alias: generated_value(hints[field.name], field.name, depth)
        for field in attr.fields(cls)
        if field.init and not field.name.startswith("_")
    }
    return cls(**values)


def event_with(row: Row | None) -> dict[str, Any]:
    event = run_event(run={"runId": "1"}, job={"namespace": "n", "name": "j"}, inputs=[{}], outputs=[{}])
    for role in ("inputs", "outputs"):
        event[role] = [{"namespace": DB, "name": role}]
    if row is not None:
        facets = {row.facet: Serde.to_dict(generated_instance(CLASSES[row.name]))}
        holder = {"run": event["run"], "job": event["job"], "input": event["inputs"][0]}
        place = f"{row.holder}Facets" if row.holder in {"input", "output"} else "facets"
        holder.get(row.holder, event["outputs"][0])[place] = facets
    return event


def stated(found: Conversion) -> tuple[Any, ...]:
    assert found.claims is not None
    claims = (found.claims.claims, found.claims.datasets, found.claims.schemas, found.claims.query)
    return [asset.statement for asset in found.assets], claims, found.incidents


def test_the_table_has_every_facet_of_the_specification_once() -> None:
    assert sorted(row.name for row in ROWS) == sorted(CLASSES)
    assert {row.outcome for row in ROWS} <= {"used", "kept", "ignored"}
    assert all(issubclass(CLASSES[row.name], HOLDERS[row.holder]) for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_facet_is_used_or_kept_as_the_table_says(row: Row) -> None:
    found, plain = converted(event_with(row)), converted(event_with(None))
    assert found.warnings == []
    assert found.claims is not None
    kept = {place.rpartition(":")[2] for place in found.claims.facets}
    assert (stated(found) != stated(plain)) is (row.outcome == "used")
    if row.outcome != "used":
        assert kept == ({row.facet} if row.outcome == "kept" else set())


@pytest.mark.parametrize("row", [row for row in ROWS if row.holder != "run"], ids=lambda row: row.name)
def test_an_event_without_a_run_keeps_what_one_with_a_run_does(row: Row) -> None:
    event = event_with(row)
    with_run = converted(event)
    without = {key: value for key, value in event.items() if key not in {"eventType", "run", "schemaURL"}}
    if row.holder == "dataset":
        without = {"eventTime": event["eventTime"], "dataset": event["outputs"][0]}
    found = converted(without)
    assert with_run.claims is not None
    kept = {place.rpartition(":")[2]: facet for place, facet in with_run.claims.facets.items()}
    facets = found.claims.facets if found.claims is not None else {}
    assert {place.rpartition(":")[2]: facet for place, facet in facets.items()} == kept
