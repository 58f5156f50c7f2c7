"""The three documents that a Ranger plug-in downloads: policies, tags and roles. Each has a version that is made of its
content, so every process of the API gives the same content the same version. A plug-in compares versions for equality
alone."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from lily.enforce.ranger.definitions import SERVICE_TYPE, TAG_TYPE, service_definition, tag_definition
from lily.enforce.ranger.engine import container_policies, engine_policies, operator
from lily.enforce.ranger.entries import ALL, Entry, Values, as_policy, only
from lily.enforce.ranger.rights import Ruling
from lily.enforce.ranger.tables import CatalogueTable, Path, entries_of
from lily.enforce.ranger.tagging import TagNames, tagged_resources
from lily.enforce.trino.objects import ObjectNames
from lily.policy import PolicyIndex

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


def documents(
    service: str, index: PolicyIndex, estate: Estate, names: ObjectNames, ruling: Ruling, tag_names: TagNames
) -> Documents:
    """`names` are those of the engine's objects; `ruling` has the facts of all of them."""
    return Documents(
        _versioned("policyVersion", _policies(service, index, estate, names, ruling)),
        _versioned("tagVersion", _tags(service, estate, names, ruling, tag_names)),
        _versioned("roleVersion", {"serviceName": service, "rangerRoles": list(ruling.subjects.roles())}),
    )


def _policies(
    service: str, index: PolicyIndex, estate: Estate, names: ObjectNames, ruling: Ruling
) -> dict[str, Any]:
    placed = [
        *_disabled(),
        *engine_policies(index, ruling),
        *container_policies(_by_schema(estate), names, ruling),
        *_tables(estate.tables, names, ruling),
    ]
    disabled = ruling.subjects.disabled_item()
    listed = []
    for number, (resources, entry) in enumerate(placed, 1):
        policy = as_policy(number, service, resources, entry, ruling.subjects)
        if entry is _DENIED:
            policy["denyPolicyItems"] = [{**item, **disabled} for item in policy["denyPolicyItems"] if disabled]
        if any(policy.get(items) for items in _ITEMS):
            listed.append(policy)
    return {
        "serviceName": service,
        "serviceId": SERVICE_ID,
        "auditMode": "audit-none",
        "serviceDef": service_definition(),
        "policies": listed,
        "tagPolicies": _tag_policies(f"{service}_tags"),
        "serviceConfig": {},
    }


_ITEMS = ("policyItems", "denyPolicyItems", "dataMaskPolicyItems", "rowFilterPolicyItems")
_DENIED = Entry(0, deny=((("select", "execute", "impersonate", "read_sysinfo", "write_sysinfo"), frozenset()),))


def _disabled() -> Iterator[tuple[dict[str, Values], Entry]]:
    """Disabled users can neither start a query nor lend their rights to a view."""
    yield {"queryid": ALL}, _DENIED
    yield {"sysinfo": ALL}, _DENIED
    yield {"trinouser": ALL}, _DENIED
    yield {"catalog": ALL, "schema": ALL, "table": ALL}, _DENIED
    yield {"catalog": ALL, "schema": ALL, "table": ALL, "column": ALL}, _DENIED


def _tables(
    tables: Iterable[CatalogueTable], names: ObjectNames, ruling: Ruling
) -> Iterator[tuple[dict[str, Values], Entry]]:
    """Tables of a schema with the same entries share policies: most tables of a large estate are alike."""
    may_operate = operator(ruling, "WRITE")
    alike: dict[tuple[str, str, tuple[Entry, ...]], list[str]] = {}
    for table in tables:
        catalog, schema, name = table.path
        entries = entries_of(table, names, ruling, may_operate)
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
    """One policy that grants and denies nothing: tags are for those who read them, the policies above have decided."""
    policy = as_policy(1, service, {"tag": ALL}, Entry(0), _NO_SUBJECTS)
    return {
        "serviceName": service,
        "serviceId": SERVICE_ID + 1,
        "policyVersion": 1,
        "auditMode": "audit-none",
        "serviceDef": tag_definition(TAG_POLL_MILLISECONDS),
        "policies": [policy],
        "serviceConfig": {},
    }


def _tags(
    service: str, estate: Estate, names: ObjectNames, ruling: Ruling, tag_names: TagNames
) -> dict[str, Any]:
    resources = list(tagged_resources(estate.tables, names, ruling, tag_names))
    listed = sorted({tag for _, tags in resources for tag in tags})
    numbers = {tag: number for number, tag in enumerate(listed, 1)}
    return {
        "op": "add_or_update",
        "serviceName": service,
        "tagDefinitions": {str(number): {"id": number, "name": tag, "attributeDefs": []} for tag, number in numbers.items()},
        "tags": {str(number): {"id": number, "type": tag, "owner": 0, "attributes": {}} for tag, number in numbers.items()},
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
