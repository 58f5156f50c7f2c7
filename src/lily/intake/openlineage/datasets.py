"""Converts datasets, their columns, and jobs with their facets to statements about assets."""

from functools import partial
from typing import NamedTuple

from lily.intake.openlineage.asset_collector import AssetCollector, column_name
from lily.intake.openlineage.facet_reader import FacetReader
from lily.intake.openlineage.facets import Json, Tags, dataset_type, documentation, kept_as, ownership
from lily.intake.openlineage.naming import JOB, DatasetName, job_name
from lily.intake.openlineage.schema_fields import Column, schema_columns
from lily.model.errors import Problem
from lily.model.values import MAX_QUALIFIED_NAME, Checker

_DESCRIBING = ("documentation", "ownership", "tags")


class Stated(NamedTuple):
    """A dataset or job of an event, with the reader of those of its facets that are not about the asset itself."""

    named: DatasetName
    facets: FacetReader
    columns: dict[str, str] | None = None  # names by qualified name, if a schema is stated


def state_dataset(collector: AssetCollector, dataset: Json, entity: str) -> Stated | None:
    """None if it has no valid name. Without facets it only states that the dataset exists, and overwrites nothing."""
    named = collector.dataset_name(collector.checker, dataset, entity)
    if named is None:
        return None
    facets, columns = FacetReader(collector.warnings, dataset, entity), None
    if facets:
        kind = facets.read("datasetType", dataset_type) or named.entity_type
        tags = _tags(collector, facets)
        collector.state(named.qualified_name, kind, {"name": named.title, **_described(collector, facets, tags)})
        columns = _state_columns(collector, named.qualified_name, facets, tags)
    else:
        collector.mention(named.qualified_name, named.entity_type, {"name": named.title})
    return Stated(named, facets, columns)


def state_job(collector: AssetCollector, job: Json) -> Stated | None:
    checker = collector.checker
    name = checker.name(job.get("name"), "job.name", MAX_QUALIFIED_NAME)
    namespace = collector.namespace(checker, job, "job")
    if name is None or namespace is None:
        return None
    qualified_name = checker.name(job_name(namespace, name), "job.name", MAX_QUALIFIED_NAME)
    title = checker.name(name, "job.name")
    if qualified_name is None or title is None:
        return None
    facets = FacetReader(collector.warnings, job, "job")
    stated = _described(collector, facets, _tags(collector, facets))
    for facet, attribute in (("jobType", "job_type"), ("sourceCodeLocation", "source_code_location")):
        stated |= facets.read(facet, partial(kept_as, attribute=attribute)) or {}
    collector.state(qualified_name, JOB, {"name": title, **stated})
    return Stated(DatasetName(qualified_name, title, JOB), facets)


def _tags(collector: AssetCollector, facets: FacetReader) -> Tags | None:
    return facets.read("tags", Tags) if collector.describes else None


def _described(collector: AssetCollector, facets: FacetReader, tags: Tags | None) -> Json:
    if not collector.describes:
        collector.warnings += [_undescribed(place) for place in facets.places(_DESCRIBING)]
        return {}
    stated = (facets.read("documentation", documentation) or {}) | (facets.read("ownership", ownership) or {})
    return stated if tags is None else stated | {"tags": tags.own}


def _state_columns(
    collector: AssetCollector, dataset: str, facets: FacetReader, tags: Tags | None
) -> dict[str, str] | None:
    """States the columns of the schema, and those that have tags. Returns the names of the former."""
    columns = facets.read("schema", partial(schema_columns, dataset=dataset))
    if not collector.describes and columns is not None:
        columns = _without_descriptions(collector, facets, columns)
    of_fields = tags if tags is not None and tags.covers_fields else None
    for column in columns or ():
        if of_fields is not None:
            column.attributes["tags"] = of_fields.of_field(column.path)
        collector.state(column.qualified_name, "column", column.attributes)
    if of_fields is not None:
        for field in of_fields.fields():
            _state_tagged_field(collector, dataset, field, of_fields)
    return None if columns is None else {column.qualified_name: column.attributes["name"] for column in columns}


def _without_descriptions(collector: AssetCollector, facets: FacetReader, columns: list[Column]) -> list[Column]:
    if any("description" in column.attributes for column in columns):
        collector.warnings += [_undescribed(f"{place}.fields.description") for place in facets.places(("schema",))]
    for column in columns:
        column.attributes.pop("description", None)
    return columns


def _undescribed(place: str) -> Problem:
    described = "ignored: stating owners, tags and descriptions needs the scope metadata:write beside lineage:write"
    return Problem("FORBIDDEN", described, place)


def _state_tagged_field(collector: AssetCollector, dataset: str, field: str, tags: Tags) -> None:
    """A tagged field that the schema does not name. The facet has been read, but not the column's qualified name."""
    checker = Checker()
    column = column_name(checker, dataset, field, "tags.field")
    collector.warnings.extend(checker.problems)
    if column is not None and column[0] not in collector.stated:
        collector.state(column[0], "column", {"name": column[1], "parent": dataset, "tags": tags.of_field(field)})
