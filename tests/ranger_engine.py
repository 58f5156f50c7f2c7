"""What a Ranger plug-in makes of the documents, as far as Lily's need it: written against Ranger's rules alone.

Of the policies that are about a resource, an item that denies decides before one that allows, and nothing is allowed by
default. Of masks and row filters the first item counts. `tests/engines` has the real one.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from lily.enforce.ranger import Documents

ACCESS, MASK, ROW_FILTER = 0, 1, 2
LEVELS = ("catalog", "schema", "table", "column")
PUBLIC = "public"
Row = Mapping[str, Any]


@dataclass(frozen=True)
class RangerEngine:
    """`policies` and `roles` are the documents."""

    policies: Mapping[str, Any]
    roles: Mapping[str, Any]

    @classmethod
    def of(cls, documents: Documents) -> "RangerEngine":
        return cls(orjson.loads(documents.policies.body), orjson.loads(documents.roles.body))

    def allows(self, access: str, path: Sequence[str], user: str, groups: Sequence[str] = ()) -> bool:
        return self.allows_on(access, dict(zip(LEVELS, path, strict=False)), user, groups)

    def allows_on(self, access: str, resource: Mapping[str, str], user: str, groups: Sequence[str] = ()) -> bool:
        about = list(self._about(ACCESS, resource, user))
        if self._first(about, "denyPolicyItems", user, groups, access):
            return False
        return self._first(about, "policyItems", user, groups, access) is not None

    def mask(self, path: Sequence[str], user: str, groups: Sequence[str] = ()) -> str | None:
        about = list(self._about(MASK, dict(zip(LEVELS, path, strict=True)), user))
        assert len(about) <= 1, "two policies mask one column, so which of them counts is not defined"
        item = self._first(about, "dataMaskPolicyItems", user, groups)
        return None if item is None else str(item["dataMaskInfo"]["valueExpr"])

    def row_filter(self, path: Sequence[str], user: str, groups: Sequence[str] = ()) -> str | None:
        about = list(self._about(ROW_FILTER, dict(zip(LEVELS, path, strict=False)), user))
        assert len(about) <= 1, "two policies filter one table, so which of them counts is not defined"
        item = self._first(about, "rowFilterPolicyItems", user, groups)
        return None if item is None else str(item["rowFilterInfo"]["filterExpr"])

    def _about(self, kind: int, resource: Mapping[str, str], user: str) -> Iterator[Mapping[str, Any]]:
        for policy in self.policies["policies"]:
            levels = policy["resources"]
            if policy["policyType"] != kind or levels.keys() != resource.keys():
                continue
            if all(_matches(levels[level], value, user) for level, value in resource.items()):
                yield policy

    def _first(
        self, policies: Sequence[Mapping[str, Any]], kind: str, user: str, groups: Sequence[str], access: str = "select"
    ) -> Mapping[str, Any] | None:
        held = self._held(user, groups)
        for item in (item for policy in policies for item in policy.get(kind, ())):
            if access in {one["type"] for one in item["accesses"]} and (
                user in item["users"] or {PUBLIC, *groups} & set(item["groups"]) or held & set(item["roles"])
            ):
                return item  # type: ignore[no-any-return]
        return None

    def _held(self, user: str, groups: Sequence[str]) -> set[str]:
        return {
            role["name"]
            for role in self.roles["rangerRoles"]
            if user in {one["name"] for one in role["users"]}
            or {PUBLIC, *groups} & {one["name"] for one in role["groups"]}
        }


def _matches(level: Mapping[str, Any], value: str, user: str) -> bool:
    listed = [user if one == "{USER}" else one.lower() for one in level["values"]]
    return bool((value.lower() in listed or "*" in listed) != level["isExcludes"])


def holds(condition: str | None, row: Row, user: str, groups: Sequence[str] = ()) -> bool:
    """Whether a row meets a condition of the forms that Lily writes."""
    if condition is None:
        return True
    text = re.sub(
        r"any_match\(current_groups\(\), g -> lower\(g\) IN \((.*?)\)\)", r"any(g in (\1,) for g in groups)", condition
    )
    text = re.sub(r"lower\(current_user\) IN \((.*?)\)", r"user in (\1,)", text)
    text = re.sub(r"\bcurrent_user\b", "user", text, flags=re.IGNORECASE)
    for sql, python in ((" = ", " == "), ("NOT ", "not "), (" OR ", " or "), (" AND ", " and "), ("true", "True")):
        text = text.replace(sql, python)
    names = {"user": user.lower(), "groups": [group.lower() for group in groups], "any": any, **row}
    return bool(eval(text, {"__builtins__": {}}, names))  # noqa: S307 - of an expression that the test has made


def shown(mask: str | None, row: Row, user: str, groups: Sequence[str] = ()) -> tuple[bool, str]:
    """Whether a value is shown in a row, and masked by which expression."""
    found = re.fullmatch(r"(TRY_CAST\()?(?:CASE WHEN (.*) THEN (.*) END)( AS \{type\}\))?", mask or "")
    if found is None:
        return mask != "NULL", mask or ""
    inner = found[3] if found[1] is None else f"TRY_CAST({found[3]} AS {{type}})"
    return holds(found[2], row, user, groups), "" if inner == '"{col}"' else inner
