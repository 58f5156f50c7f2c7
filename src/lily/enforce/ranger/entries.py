"""What Ranger's policies are made of, before they have numbers. Objects with equal entries share a policy."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from lily.enforce.ranger.rights import Rights
from lily.enforce.ranger.subjects import Keys, Subjects

ACCESS, MASK, ROW_FILTER = 0, 1, 2  # types of policies
EVERY = "*"
# Ranger takes these for wildcards and macros, and cannot be kept from it.
_SPECIAL = frozenset("*?{}")


class Values(NamedTuple):
    """The values of one level of a resource: those that are listed, or all others."""

    listed: tuple[str, ...]
    others: bool = False

    def as_json(self) -> dict[str, Any]:
        if self.others and not self.listed:
            return {"values": [EVERY], "isExcludes": False, "isRecursive": False}
        return {"values": list(self.listed), "isExcludes": self.others, "isRecursive": False}


ALL = Values((), others=True)


def only(*names: str) -> Values:
    return Values(names)


class Entry(NamedTuple):
    """`allow` and `deny` have accesses and to whom they apply; `shown` whom an expression is for, and the first that
    applies counts. `columns` None: it is about what contains the columns."""

    type: int
    columns: Values | None = None
    allow: tuple[tuple[tuple[str, ...], Keys], ...] = ()
    deny: tuple[tuple[tuple[str, ...], Keys], ...] = ()
    shown: tuple[tuple[Keys, str], ...] = ()


def access(granted: Iterable[tuple[str, Rights]], columns: Values | None = None) -> Entry:
    """An entry for accesses; those with the same rights share an item."""
    allow: dict[Keys, list[str]] = {}
    deny: dict[Keys, list[str]] = {}
    for name, rights in granted:
        if rights.allow:  # nobody needs to be denied what nobody is allowed
            allow.setdefault(rights.allow, []).append(name)
            if rights.deny:
                deny.setdefault(rights.deny, []).append(name)
    allowed, denied = (tuple((tuple(names), keys) for keys, names in one.items()) for one in (allow, deny))
    return Entry(ACCESS, columns, allowed, denied)


def as_policy(
    number: int, service: str, resources: dict[str, Values], entry: Entry, subjects: Subjects
) -> dict[str, Any]:
    policy: dict[str, Any] = {
        "id": number,
        "guid": f"lily-{number}",
        "name": f"lily-{number}",
        "service": service,
        "policyType": entry.type,
        "policyPriority": 0,
        "isEnabled": True,
        "isAuditEnabled": False,
        "isDenyAllElse": False,
        "version": 1,
        "resources": {level: values.as_json() for level, values in resources.items()},
    }
    if entry.type == ACCESS:
        policy["policyItems"] = [_accesses(names) | subjects.item(keys) for names, keys in entry.allow]
        policy["denyPolicyItems"] = [
            _accesses(names) | subjects.item(keys, restricts=True) for names, keys in entry.deny
        ]
    else:
        kind, info = _SHOWN[entry.type]
        policy[kind] = [
            _accesses(("select",)) | subjects.item(keys, restricts=True) | info(expression)
            for keys, expression in entry.shown
        ]
    return policy


def can_be_named(*names: str) -> bool:
    return all(name and name == name.strip() and not _SPECIAL.intersection(name) for name in names)


def _accesses(names: Iterable[str]) -> dict[str, Any]:
    return {"accesses": [{"type": name, "isAllowed": True} for name in names], "delegateAdmin": False}


def _mask(expression: str) -> dict[str, Any]:
    return {"dataMaskInfo": {"dataMaskType": "CUSTOM", "valueExpr": expression}}


def _row_filter(expression: str) -> dict[str, Any]:
    return {"rowFilterInfo": {"filterExpr": expression}}


_SHOWN = {MASK: ("dataMaskPolicyItems", _mask), ROW_FILTER: ("rowFilterPolicyItems", _row_filter)}
