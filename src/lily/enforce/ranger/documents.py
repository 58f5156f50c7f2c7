"""The three documents that a Ranger plug-in downloads: policies, tags and roles. Each has a version that is made of its
content, so every process of the API gives the same content the same version. A plug-in compares versions for equality
alone."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import orjson

from lily.enforce.ranger.definitions import SERVICE_TYPE, service_definition, tag_definition
from lily.enforce.ranger.engine import container_policies, disabled_policies, engine_policies, operator
from lily.enforce.ranger.entries import ACCESS, ALL, Entry, Values, as_policy, only
from lily.enforce.ranger.rights import Ruling
from lily.enforce.ranger.subjects import NOBODY, Subjects
from lily.enforce.ranger.tables import CatalogueTable, entries_of, rights_of_described
from lily.enforce.ranger.tagging import TagNames, tagged_resources

SERVICE_ID = 1
TAG_POLL_MILLISECONDS = 5_000
_VERSION_BITS = 53  # a number that JSON readers of any language keep exactly


class Document(NamedTuple):
    version: int
    body: bytes


class Estate(NamedTuple):
    """What the engine has, as far as the catalogue knows. `schemas` are those of the catalogue, without tables too."""

    tables: Sequence[CatalogueTable]
    schemas: Sequence[tuple[str, str]] = ()


class Documents(NamedTuple):
    policies: Document
    tags: Document
    roles: Document


def documents(service: str, estate: Estate, ruling: Ruling, tag_names: TagNames) -> Documents:
    """`ruling` has the facts of everything in the estate."""
    return Documents(
        _versioned("policyVersion", _policies(service, estate, ruling)),
        _versioned("tagVersion", _tags(service, estate, ruling, tag_names)),
        _versioned("roleVersion", {"serviceName": service, "rangerRoles": list(ruling.subjects.roles())}),
    )


def _policies(service: str, estate: Estate, ruling: Ruling) -> dict[str, Any]:
    placed = [
        *disabled_policies(ruling.subjects),
        *engine_policies(ruling),
        *container_policies(_by_schema(estate), ruling),
        *_tables(estate.tables, ruling),
    ]
    useful = [(resources, entry) for resources, entry in placed if entry.allow or entry.deny or entry.shown]
    listed = [
        as_policy(number, service, resources, entry, ruling.subjects)
        for number, (resources, entry) in enumerate(useful, 1)
    ]
    return {
        "serviceName": service,
        "serviceId": SERVICE_ID,
        "auditMode": "audit-none",
        "serviceDef": service_definition(),
        "policies": listed,
        "tagPolicies": _tag_policies(f"{service}_tags"),
        "serviceConfig": {},
    }


def _tables(tables: Sequence[CatalogueTable], ruling: Ruling) -> Iterator[tuple[dict[str, Values], Entry]]:
    """Tables of a schema with the same entries share policies: most tables of a large estate are alike."""
    may_operate = operator(ruling, "WRITE")
    alike: dict[tuple[str, str, tuple[Entry, ...]], list[str]] = {}
    by_path: dict[Sequence[str], CatalogueTable] = {table.path: table for table in tables}
    for table in tables:
        catalog, schema, name = table.path
        entries = entries_of(table, ruling, may_operate, list(rights_of_described(table, by_path, ruling)))
        alike.setdefault((catalog, schema, entries), []).append(name)
    for (catalog, schema, entries), found in alike.items():
        place = {"catalog": only(catalog), "schema": only(schema), "table": only(*sorted(found))}
        for entry in entries:
            yield place if entry.columns is None else {**place, "column": entry.columns}, entry


def _by_schema(estate: Estate) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {schema: [] for schema in sorted(estate.schemas)}
    for table in estate.tables:
        found.setdefault(table.path[:2], []).append(table.path[2])
    return found


def _tag_policies(service: str) -> dict[str, Any]:
    """One policy that allows nobody anything: without one the plug-in does not download tags."""
    entry = Entry(ACCESS, allow=(((f"{SERVICE_TYPE}:select",), frozenset({NOBODY})),))
    policy = as_policy(1, service, {"tag": ALL}, entry, Subjects((), (), ()))
    return {
        "serviceName": service,
        "serviceId": SERVICE_ID + 1,
        "policyVersion": 1,
        "auditMode": "audit-none",
        "serviceDef": tag_definition(TAG_POLL_MILLISECONDS),
        "policies": [policy],
        "serviceConfig": {},
    }


def _tags(service: str, estate: Estate, ruling: Ruling, tag_names: TagNames) -> dict[str, Any]:
    resources = list(tagged_resources(estate.tables, ruling, tag_names))
    listed = sorted({tag for _, tags in resources for tag in tags})
    numbers = {tag: number for number, tag in enumerate(listed, 1)}
    return {
        "op": "add_or_update",
        "serviceName": service,
        "tagDefinitions": {str(number): {"id": number, "name": tag} for tag, number in numbers.items()},
        "tags": {str(number): {"id": number, "type": tag, "attributes": {}} for tag, number in numbers.items()},
        "serviceResources": [
            {"id": number, "serviceName": service, "resourceElements": elements}
            for number, (elements, _) in enumerate(resources, 1)
        ],
        "resourceToTagIds": {
            str(number): [numbers[tag] for tag in tags] for number, (_, tags) in enumerate(resources, 1)
        },
        "isDelta": False,
        "tagsChangeExtent": "ALL",
    }


def _versioned(field: str, content: dict[str, Any]) -> Document:
    digest = hashlib.sha256(orjson.dumps(content)).digest()
    version = int.from_bytes(digest) >> (8 * len(digest) - _VERSION_BITS) or 1
    return Document(version, orjson.dumps({field: version, **content}))
