"""Converts datasets, their columns, and jobs with their facets to statements about assets."""

from lily.intake.openlineage import facets as facet
from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.facets import Json, Tags
from lily.intake.openlineage.naming import DatasetName, job_name
from lily.model.values import MAX_DEPTH, MAX_QUALIFIED_NAME

_TYPES = {
    "table": "table",
    "view": "view",
    "materialized_view": "materialized_view",
    "file": "file",
    "topic": "topic",
    "stream": "stream",
    "model": "model",
}


def state_dataset(collector: AssetCollector, dataset: Json, entity: str) -> str | None:
    """Returns the qualified name. Without facets it only states that the dataset exists, and overwrites nothing."""
    named = collector.dataset_name(dataset, entity)
    if named is None:
        return None
    checker = collector.checker
    facets = facet.facets_of(checker, dataset, entity)
    if not facets:
        collector.mention(named.qualified_name, named.entity_type, {"name": named.title})
        return named.qualified_name
    tags = facet.tags(checker, facets, entity)
    stated = facet.description(checker, facets, entity) | facet.ownership(checker, facets, entity)
    if tags is not None:
        stated["tags"] = list(dict.fromkeys(tags.own))
    collector.state(named.qualified_name, _type(collector, facets, named, entity), {"name": named.title, **stated})
    _state_columns(collector, named.qualified_name, facets, tags, entity)
    return named.qualified_name


def state_job(collector: AssetCollector, job: Json) -> str | None:
    checker = collector.checker
    name = checker.name(job.get("name"), "job.name", MAX_QUALIFIED_NAME)
    namespace = collector.namespace(job, "job")
    if name is None or namespace is None:
        return None
    qualified_name = checker.name(job_name(namespace, name), "job.name", MAX_QUALIFIED_NAME)
    facets = facet.facets_of(checker, job, "job")
    tags = facet.tags(checker, facets, "job")
    stated = facet.description(checker, facets, "job") | facet.ownership(checker, facets, "job")
    if tags is not None:
        stated["tags"] = list(dict.fromkeys(tags.own))
    if qualified_name is not None:
        collector.state(qualified_name, "job", {"name": checker.name(name, "job.name"), **stated})
    return qualified_name


def _type(collector: AssetCollector, facets: Json, named: DatasetName, entity: str) -> str:
    found = facet.facet_of(collector.checker, facets, "datasetType", entity) or {}
    kind, subtype = found.get("datasetType"), found.get("subType")
    if not isinstance(kind, str):
        return named.entity_type
    if kind.lower() == "view" and isinstance(subtype, str) and subtype.lower().startswith("materialized"):
        return "materialized_view"
    return _TYPES.get(kind.lower(), named.entity_type)


def _state_columns(collector: AssetCollector, dataset: str, facets: Json, tags: Tags | None, entity: str) -> None:
    schema = facet.facet_of(collector.checker, facets, "schema", entity)
    if schema is not None and not facet.is_deleted(schema):
        where = f"{entity}.facets.schema.fields"
        fields = facet.objects(collector.checker, schema.get("fields"), where)
        _state_fields(collector, dataset, fields, tags=tags, entity=where)
    for field in tags.fields() if tags else ():
        column = collector.column(dataset, field, f"{entity}.facets.tags.tags.field")
        if tags is not None and column is not None and column[0] not in collector.stated:
            collector.state(column[0], "column", {"name": column[1], "parent": dataset, "tags": tags.of_field(field)})


def _state_fields(
    collector: AssetCollector,
    parent: str,
    fields: list[Json],
    *,
    tags: Tags | None,
    entity: str,
    path: str = "",
    depth: int = 0,
) -> None:
    """The fields of a struct become children of its column."""
    checker = collector.checker
    if depth >= MAX_DEPTH:
        checker.refuse("TOO_DEEP", f"fields are nested deeper than {MAX_DEPTH} levels", entity)
        return
    name_at, type_at, text_at = f"{entity}.name", f"{entity}.type", f"{entity}.description"
    for position, field in enumerate(fields, 1):
        found = collector.column(parent, field.get("name"), name_at)
        if found is None:
            continue
        column, name = found
        given = field.get("ordinal_position")
        attributes: Json = {"name": name, "parent": parent}
        attributes["ordinal_position"] = given if type(given) is int and 0 < given < 2**31 else position
        if (kind := field.get("type")) is not None:
            attributes["data_type"] = checker.text(kind, type_at)
        if (text := field.get("description")) is not None:
            attributes["description"] = checker.text(text, text_at)
        if tags is not None and tags.covers_fields:
            attributes["tags"] = tags.of_field(f"{path}{name}")
        collector.state(column, "column", attributes)
        if field.get("fields"):
            inner = facet.objects(checker, field["fields"], f"{entity}.fields")
            below = f"{path}{name}."
            _state_fields(collector, column, inner, tags=tags, entity=entity, path=below, depth=depth + 1)
