"""Creates, replaces, deletes, finds and lists administrative objects, the same way for every kind."""

import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from lily.api.calls import HttpCall
from lily.api.http.bodies import read_json
from lily.api.http.errors import Declined, not_found
from lily.api.http.openapi.responses import Json
from lily.api.http.paging import keyed_page
from lily.api.reads.references import normal
from lily.model.engine_names import parse_engine_mapping
from lily.model.errors import Problem, Refused
from lily.model.values import MAX_TAG, Checker
from lily.policy import (
    Role,
    fold,
    parse_policy,
    parse_role,
    parse_scraper_policy,
    parse_user,
    refuse_role_cycle,
)
from lily.policy.names import group_key, role_key, tag_resource_key, user_key
from lily.policy.visibility import asset_set
from lily.store.postgres.policies import objects
from lily.store.postgres.policies.objects import Change, Changed, Entry, Kind
from lily.store.postgres.policies.stored_objects import user_entry

ATTEMPTS = 5  # of a role whose check others' changes have overtaken

Parse = Callable[[str, str, Any], Entry]  # of the tenant, the id or name, and the body


@dataclass(frozen=True, slots=True)
class Administered:
    """A kind of object: where it is found, what identifies it (`id` or `name`), and how its body is validated."""

    kind: Kind
    what: str
    path: str
    identified_by: str
    parse: Parse
    convertor: str = "text"  # of the path parameter


async def listed(call: HttpCall, kind: Administered, limit: int, cursor: str | None) -> Json:
    call.require("policy:read", "this call", kind.path)
    read = partial(objects.page, call.services.database, call.tenant, kind.kind)
    return Json(await keyed_page(call, kind.path, limit, cursor, read))


async def one(call: HttpCall, kind: Administered, reference: str) -> Json:
    call.require("policy:read", "this call", kind.path)
    found = await objects.find(call.services.database, call.tenant, kind.kind, fold(normal(reference)))
    if found is None:
        raise not_found(reference, kind.what)
    return Json(found)


async def create(call: HttpCall, kind: Administered) -> Json:
    call.require("policy:write", f"creating a {kind.what}", kind.path)
    body = await _body(call)
    identity = body.pop("id", None) if kind.identified_by == "id" and isinstance(body, dict) else None
    entry = kind.parse(
        call.tenant, str(uuid.uuid4()) if identity is None else checked_name(identity, "id", MAX_TAG), body
    )
    changed = await _change(call, "create", entry)
    if not changed.done:
        shown = entry.body[kind.identified_by]
        description = f"the {kind.what} {shown} exists already; change it with PUT {kind.path}/{shown}"
        raise Declined(409, Problem("EXISTS", description, kind.identified_by))
    return Json(entry.body, 201)


async def replace(call: HttpCall, kind: Administered, reference: str) -> Json:
    call.require("policy:write", f"changing a {kind.what}", kind.path)
    body, given = await _body(call), normal(reference)
    if isinstance(body, dict):
        stated = body.setdefault(kind.identified_by, given)
        if not isinstance(stated, str) or fold(normal(stated)) != fold(given):
            differs = f"{kind.identified_by} {str(stated)[:64]!r} differs from {given[:64]!r} in the path"
            described = f"{differs}; a {kind.what} cannot be renamed"
            raise Refused(Problem("INVALID_VALUE", described, kind.identified_by))
        if kind.identified_by == "id":
            del body["id"]
    known = await objects.find(call.services.database, call.tenant, kind.kind, fold(given))
    if known is None:
        raise not_found(reference, kind.what)
    if kind.identified_by == "name" and isinstance(body, dict):
        body["name"] = known["name"]  # shown as first defined
    entry = kind.parse(call.tenant, known[kind.identified_by], body)
    if not (await _change(call, "replace", entry)).done:
        raise not_found(reference, kind.what)
    return Json(entry.body)


async def remove(call: HttpCall, kind: Administered, reference: str) -> Json:
    """For a role or user, the response lists what still names it: those policies, roles and users stay as they are."""
    call.require("policy:write", f"deleting a {kind.what}", kind.path)
    key = fold(normal(reference))
    changed = await _change(call, "delete", Entry(kind.kind, key, {}))
    if changed.before is None:
        raise not_found(reference, kind.what)
    content: dict[str, Any] = {"status": "success", kind.identified_by: changed.before[kind.identified_by]}
    if kind.kind in {"role", "user"}:
        subject = role_key(key) if kind.kind == "role" else user_key(key)
        naming = await objects.naming(call.services.database, call.tenant, subject)
        content["named_by"] = [{"kind": by, "name": name} for by, name in naming.items]
        content["named_by_count"] = naming.total
    return Json(content)


async def _body(call: HttpCall) -> Any:
    return await read_json(call.request, call.services.settings.limits.body_bytes)


async def _change(call: HttpCall, how: Change, entry: Entry) -> Changed:
    database = call.services.database
    for _ in range(ATTEMPTS):
        expected = None
        if entry.kind == "role" and how != "delete":
            expected, roles = await objects.roles_of(database, call.tenant)
            refuse_cycle(map(parse_role, (roles | {entry.key: entry.body}).values()))
        changed = await objects.change(
            database, call.principal, how, entry, correlation=call.correlation, expected=expected
        )
        # The role was checked against roles that others have changed meanwhile: check it again.
        if changed.done or expected is None or expected == changed.version:
            call.services.policies.changed(call.tenant)
            call.services.tag_rules.invalidate(call.tenant)
            return changed
    raise Declined(409, Problem("CONFLICT", "others are changing roles at the same time; try again", entry.key))


def refuse_cycle(roles: Iterable[Role]) -> None:
    """Raises Declined with 409, and the names along the cycle."""
    try:
        refuse_role_cycle(roles)
    except Refused as refused:
        raise Declined(409, refused.problems[0]) from refused


def checked_name(given: Any, entity: str, limit: int) -> str:
    """Raises Refused unless it is a name of at most so many characters."""
    checker = Checker()
    name = checker.name(given, entity, limit)
    if name is None:
        raise Refused(*checker.problems)
    return name


def _policy(tenant: str, identity: str, body: Any) -> Entry:
    policy = parse_policy(body, tenant=tenant, policy_id=identity)
    tags = map(tag_resource_key, asset_set([policy]).tags)
    names = sorted({*(subject.key for subject in policy.subjects), *tags})
    return Entry("policy", fold(identity), {"id": identity, **policy.as_dict()}, names)


def _role(_: str, __: str, body: Any) -> Entry:
    role = parse_role(body)
    names = sorted({*map(role_key, role.inherits), *map(group_key, role.groups)})
    return Entry("role", fold(role.name), role.as_dict(), names)


def _user(_: str, __: str, body: Any) -> Entry:
    return user_entry(parse_user(body))


def _scraper_policy(_: str, identity: str, body: Any) -> Entry:
    policy = parse_scraper_policy(body, policy_id=identity)
    return Entry("scraper-policy", fold(identity), {"id": identity, **policy.as_dict()})


def _engine_mapping(_: str, identity: str, body: Any) -> Entry:
    mapping = parse_engine_mapping(body, mapping_id=identity)
    return Entry("engine-mapping", fold(identity), {"id": identity, **mapping.as_dict()})


POLICIES = Administered("policy", "policy", "/policies", "id", _policy)
ROLES = Administered("role", "role", "/roles", "name", _role)
USERS = Administered("user", "user", "/users", "name", _user, "user")
SCRAPER_POLICIES = Administered("scraper-policy", "scraper policy", "/scraper-policies", "id", _scraper_policy)
ENGINE_MAPPINGS = Administered("engine-mapping", "engine mapping", "/engine-mappings", "id", _engine_mapping)
