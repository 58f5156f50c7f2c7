"""The same policies for Cedar: each as one Cedar policy, principals and assets as entities, contexts as JSON.

Cedar's errors would silently skip a policy, so a decision with errors raises. What Cedar lacks is handed to it: the
weekday, and a name in any case as the ids of the assets that have it. Unknown is written out: `has` in front of a
condition of a permit, `!has ||` in front of one of a forbid.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import cedarpy

from bench.findings import BenchError
from bench.policy_world import MONDAY, OFFSETS, WEEKDAYS, PolicyWorld
from lily.policy import Check, Context, Facts, Policy, Principal

_BATCH = 1_000


class Cedar:
    """Policies and entities are parsed once."""

    def __init__(self, world: PolicyWorld) -> None:
        self._ids: dict[str, list[str]] = {}
        for asset in world.assets:
            self._ids.setdefault(asset.qualified_name.lower(), []).append(asset.id)
        self._policies = cedarpy.PolicySet.from_str("\n".join(map(self._policy, world.policies)))
        principals = {id(check.principal): check.principal for check in world.checks}
        self._entities = cedarpy.Entities.from_json_str(json.dumps(list(_entities(world, principals.values()))))

    @staticmethod
    def requests(checks: Sequence[Check]) -> list[dict[str, Any]]:
        """The checks as cedarpy takes them, contexts as text so that it need not write them itself."""
        texts = {id(check.context): json.dumps(_context(check.context)) for check in checks}
        return [
            {
                "principal": _uid("Principal", str(id(check.principal))),
                "action": _uid("Action", check.action),
                "resource": _uid("Asset", check.facts.id),
                "context": texts[id(check.context)],
            }
            for check in checks
        ]

    def allowed(self, requests: Sequence[dict[str, Any]]) -> list[bool]:
        found: list[bool] = []
        for start in range(0, len(requests), _BATCH):
            results = cedarpy.is_authorized_batch(
                list(requests[start : start + _BATCH]), self._policies, self._entities
            )
            if errors := next((one.diagnostics.errors for one in results if one.diagnostics.errors), None):
                raise BenchError(f"Cedar could not evaluate a policy: {errors}")
            found += [result.allowed for result in results]
        return found

    def _policy(self, policy: Policy) -> str:
        """From the policy as people state it, so that what Lily makes of it is compared as well."""
        body = policy.as_dict()
        effect = {"allow": "permit", "deny": "forbid"}[body["effect"]]
        actions = ", ".join(_uid("Action", action) for action in body["actions"])
        tests = [_subjects(body["subjects"]), self._resources(body["resources"])]
        tests += _conditions(body.get("conditions", {}), body["effect"])
        when = " && ".join(f"({test})" for test in tests)
        return f"{effect} (principal, action in [{actions}], resource) when {{ {when} }};"

    def _resources(self, resources: list[dict[str, str]]) -> str:
        tests = []
        for kind, value in (entry for resource in resources for entry in resource.items()):
            if kind == "asset" and value != "*":
                assets = [_uid("Asset", one) for one in self._ids.get(value.lower(), [value])]
                tests.append(f"resource in [{', '.join(assets)}]")
            elif kind == "tag":
                tests.append("resource.tagged" if value == "*" else f'resource.tags.contains("{value.lower()}")')
            elif kind == "data_source":
                equal = "true" if value == "*" else f'resource.source == "{value.lower()}"'
                tests.append(f"resource has source && {equal}")
            else:
                tests.append("true" if value == "*" else f'resource.type == "{value}"')
        return " || ".join(f"({test})" for test in tests)


def _subjects(subjects: list[dict[str, str]]) -> str:
    named = [entry for subject in subjects for entry in subject.items()]
    if any(name == "*" for _, name in named):
        return "true"
    return f"principal in [{', '.join(_uid(kind.title(), name.lower()) for kind, name in named)}]"


def _conditions(conditions: dict[str, Any], effect: str) -> Iterator[str]:
    for known, test in (*_of_context(conditions), *_of_principal(conditions)):
        yield f"{known} && ({test})" if effect == "allow" else f"!({known}) || ({test})"
    for name, values in conditions.get("attributes", {}).get("asset", {}).items():
        yield f"resource has {name} && {json.dumps(values)}.contains(resource.{name})"


def _of_principal(conditions: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, values in conditions.get("attributes", {}).get("principal", {}).items():
        yield f"principal has {name}", f"{json.dumps(values)}.contains(principal.{name})"


def _of_context(conditions: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What must be known, and the comparison."""
    times = conditions.get("time", {})
    offset = OFFSETS[times.get("timezone", "UTC")]
    if "from" in times:
        local = f'context.now.offset(duration("{offset}m")).toTime()'
        after, before = f"{local} >= {_duration(times['from'])}", f"{local} < {_duration(times['to'])}"
        yield "context has now", f"{after} && {before}" if times["from"] < times["to"] else f"{after} || {before}"
    if "not_before" in times:
        yield "context has now", f'context.now >= datetime("{times["not_before"][:19]}Z")'
    if "not_after" in times:
        yield "context has now", f'context.now < datetime("{times["not_after"][:19]}Z")'
    if "weekdays" in conditions:
        days = [WEEKDAYS.index(day) for day in conditions["weekdays"]]
        yield f"context has {_weekday(offset)}", f"{days}.contains(context.{_weekday(offset)})"
    if "networks" in conditions:
        inside = " || ".join(f'context.ip.isInRange(ip("{network}"))' for network in conditions["networks"])
        yield "context has ip", inside
    if "purpose" in conditions:
        yield "context has purpose", f"{json.dumps(conditions['purpose'])}.contains(context.purpose)"


def _duration(clock_time: str) -> str:
    hours, minutes = clock_time.split(":")
    return f'duration("{int(hours)}h{int(minutes)}m")'


def _weekday(offset: int) -> str:
    """The name under which a context has the weekday at this offset from UTC."""
    return f"weekday{offset}".replace("-", "minus")


def _context(context: Context) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if context.now is not None:
        found["now"] = _extension("datetime", f"{context.now:%FT%TZ}")
        minutes = int((context.now - MONDAY).total_seconds()) // 60
        for offset in OFFSETS.values():
            found[_weekday(offset)] = (minutes + offset) // 1440 % 7
    if context.address is not None:
        found["ip"] = _extension("ip", context.address.removeprefix("::ffff:"))
    if context.purpose is not None:
        found["purpose"] = context.purpose
    return found


def _extension(function: str, argument: str) -> dict[str, Any]:
    return {"__extn": {"fn": function, "arg": argument}}


def _entities(world: PolicyWorld, principals: Iterable[Principal]) -> Iterator[dict[str, Any]]:
    for role in world.roles:
        yield _entity("Role", role.name.lower(), [("Role", name.lower()) for name in role.inherits])
    groups = {group.lower() for role in world.roles for group in role.groups}
    for group in sorted(groups):
        given = [("Role", role.name.lower()) for role in world.roles if group in map(str.lower, role.groups)]
        yield _entity("Group", group, given)
    for user in world.users:
        roles = [("Role", name.lower()) for name in user.roles]
        yield _entity("User", user.name.lower(), [*roles, *(("Group", name.lower()) for name in user.groups)])
    for principal in principals:
        above = [("User", principal.user.lower())] if principal.user else []
        above += [("Group", name) for name in principal.groups] + [("Role", name) for name in principal.roles]
        yield _entity("Principal", str(id(principal)), above, dict(principal.attributes))
    for asset in world.assets:
        yield _entity("Asset", asset.id, [("Asset", one.id) for one in asset.ancestors], _attributes(asset))


def _attributes(asset: Facts) -> dict[str, Any]:
    tags = sorted(asset.tags)
    source = {"source": asset.data_source.lower()} if asset.data_source else {}
    return {"tags": tags, "tagged": bool(tags), "type": asset.entity_type, **source, **dict(asset.attributes or {})}


def _entity(
    kind: str, name: str, above: Iterable[tuple[str, str]], attributes: dict[str, Any] | None = None
) -> dict[str, Any]:
    parents = [{"type": kind, "id": name} for kind, name in above]
    return {"uid": {"type": kind, "id": name}, "attrs": attributes or {}, "parents": parents}


def _uid(kind: str, name: str) -> str:
    return f'{kind}::"{name}"'
