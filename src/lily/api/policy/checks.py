"""The checks of a request, parsed once per distinct principal, asset and context: a batch repeats them a lot."""

import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple, cast

import orjson

from lily.model import clock, ids
from lily.model.errors import Problem, Refused
from lily.model.suggestions import MAX_LENGTH, hint
from lily.model.values import MAX_NAME, MAX_QUALIFIED_NAME, Checker
from lily.policy import ACTIONS, PLANES, Action, Context, Plane, Principal, User, fold
from lily.policy.fields import hint_any_case

MAX_CHECKS = 10_000
MAX_PROBLEMS = 20
CHECK_FIELDS = frozenset({"principal", "action", "asset_id", "context", "plane"})
PRINCIPAL_FIELDS = ("user", "groups", "roles", "attributes")
CONTEXT_FIELDS = ("time", "address", "purpose")


@dataclass(frozen=True, slots=True)
class Named:
    """A principal as a check names it."""

    user: str = ""
    groups: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def principal(self, users: Mapping[str, User | None]) -> Principal:
        """With the groups and roles of the tenant's user of that name."""
        user = users.get(fold(self.user)) if self.user else None
        if user is None:
            return Principal(self.user, self.groups, self.roles, self.attributes)
        groups, roles = (*self.groups, *user.groups), (*self.roles, *user.roles)
        return Principal(self.user, groups, roles, self.attributes, user.disabled)


class ParsedCheck(NamedTuple):
    """`principal` and `context` are positions in the batch's lists."""

    principal: int
    action: Action
    asset: str  # an id in lower case, or a normalised qualified name
    context: int
    plane: Plane


@dataclass(slots=True)
class Batch:
    """The checks of a request, and what they share."""

    checks: list[ParsedCheck]
    principals: list[Named]
    contexts: list[Context]

    @property
    def assets(self) -> set[str]:
        return {check.asset for check in self.checks}


def parse_checks(given: Any, now: datetime | None = None) -> Batch:
    """Raises Refused with the first problems. `now` is the time of checks that state none."""
    if not isinstance(given, list) or not 0 < len(given) <= MAX_CHECKS:
        described = f"checks must be a list of 1 to {MAX_CHECKS} objects with principal, action and asset_id"
        raise Refused(Problem("INVALID_TYPE", described, "checks"))
    parser = _Parser(now or datetime.now(UTC))
    checks = [parser.check(entry, number) for number, entry in enumerate(given)]
    if parser.checker.problems:
        raise Refused(*parser.checker.problems[:MAX_PROBLEMS])
    return Batch(checks, parser.principals, parser.contexts)


class _Parser:
    def __init__(self, now: datetime) -> None:
        self.checker = Checker()
        self.principals: list[Named] = []
        self.contexts = [Context(now=now)]
        self._now = now
        self._principals: dict[Any, int] = {}
        self._contexts: dict[bytes, int] = {}
        self._assets: dict[str, str] = {}

    def check(self, entry: Any, number: int) -> ParsedCheck:
        if not isinstance(entry, dict):
            self._refuse("INVALID_TYPE", "a check must be an object with principal, action and asset_id", number)
            return _NOTHING
        if not CHECK_FIELDS.issuperset(entry):
            self._refuse_unknown(entry, CHECK_FIELDS, f"checks[{number}]")
        principal, action, plane = entry.get("principal"), entry.get("action"), entry.get("plane", "data")
        if isinstance(principal, str) and principal in self._principals:
            who = self._principals[principal]
        else:
            who = self._principal(principal, number)
        if action not in ACTIONS:
            action = self._action(action, number)
        if plane not in PLANES:
            self._refuse(
                "INVALID_VALUE", f"unknown plane {str(plane)[:64]!r}; {hint(str(plane), PLANES)}", number, "plane"
            )
        reference = entry.get("asset_id")
        asset = self._assets.get(reference) if isinstance(reference, str) else None
        if asset is None:
            asset = self._asset(reference, number)
        context = 0 if entry.get("context") is None else self._context(entry["context"], number)
        return ParsedCheck(who, action, asset, context, plane)

    def _principal(self, given: Any, number: int) -> int:
        entity = f"checks[{number}].principal"
        key = given if isinstance(given, str) else self._key(given, entity)
        known = self._principals.get(key)
        if known is not None:
            return known
        problems = len(self.checker.problems)
        if isinstance(given, str):
            named = Named(self.checker.name(given, entity, MAX_NAME) or "")
        elif isinstance(given, dict):
            named = self._stated(given, entity)
        else:
            self.checker.refuse(
                "INVALID_TYPE",
                f"{entity} must be the name of a user, or an object with: {', '.join(PRINCIPAL_FIELDS)}",
                entity,
            )
            named = Named()
        self.principals.append(named)
        if len(self.checker.problems) == problems:  # a problem is reported for each check that has it
            self._principals[key] = len(self.principals) - 1
        return len(self.principals) - 1

    def _stated(self, given: dict[str, Any], entity: str) -> Named:
        self._refuse_unknown(given, PRINCIPAL_FIELDS, entity)
        user = given.get("user")
        name = "" if user is None else self.checker.name(user, f"{entity}.user", MAX_NAME)
        groups, roles = (
            tuple(self.checker.names(given[field], f"{entity}.{field}") or ()) if given.get(field) is not None else ()
            for field in ("groups", "roles")
        )
        attributes = given.get("attributes") or {}
        if not isinstance(attributes, dict):
            self.checker.refuse("INVALID_TYPE", f"{entity}.attributes must be an object", f"{entity}.attributes")
            attributes = {}
        if not (name or groups or roles):
            self.checker.refuse("MISSING_FIELD", f"{entity} must state a user, groups or roles", entity)
        return Named(name or "", groups, roles, attributes)

    def _action(self, given: Any, number: int) -> Action:
        action = given.upper() if isinstance(given, str) else given
        if action in ACTIONS:
            return cast("Action", action)
        described = f"unknown action {str(given)[:MAX_LENGTH]!r}; {hint_any_case(str(given), ACTIONS)}"
        self._refuse(
            "INVALID_VALUE",
            described if given is not None else f"action is required: one of {', '.join(ACTIONS)}",
            number,
            "action",
        )
        return "READ"

    def _asset(self, given: Any, number: int) -> str:
        entity = f"checks[{number}].asset_id"
        name = self.checker.name(given, entity, MAX_QUALIFIED_NAME)
        if name is None:
            return ""
        self._assets[given] = name = normalised(name)
        return name

    def _context(self, given: Any, number: int) -> int:
        entity = f"checks[{number}].context"
        if not isinstance(given, dict):
            self.checker.refuse("INVALID_TYPE", f"{entity} must be an object with: {', '.join(CONTEXT_FIELDS)}", entity)
            return 0
        key = self._key(given, entity)
        known = self._contexts.get(key)
        if known is not None:
            return known
        problems = len(self.checker.problems)
        self._refuse_unknown(given, CONTEXT_FIELDS, entity)
        stated = {name: given.get(name) for name in CONTEXT_FIELDS}
        for name, value in stated.items():
            if value is not None and not isinstance(value, str):
                self.checker.refuse("INVALID_TYPE", f"{entity}.{name} must be a string", f"{entity}.{name}")
        now = self._moment(stated["time"], f"{entity}.time")
        if len(self.checker.problems) > problems:
            return 0
        context = Context(now=now, address=stated["address"], purpose=stated["purpose"])
        if stated["address"] is not None and context.ip is None:
            described = f"{stated['address'][:MAX_LENGTH]!r} is not an IP address"
            self.checker.refuse("INVALID_VALUE", described, f"{entity}.address")
        self.contexts.append(context)
        self._contexts[key] = len(self.contexts) - 1
        return len(self.contexts) - 1

    def _key(self, given: Any, entity: str) -> bytes:
        """The same for objects that state the same."""
        try:
            return orjson.dumps(given, option=orjson.OPT_SORT_KEYS)
        except orjson.JSONEncodeError as error:  # it reads deeper objects than it writes
            raise Refused(
                Problem("INVALID_VALUE", f"{entity} is nested too deeply; use fewer levels", entity)
            ) from error

    def _moment(self, given: Any, entity: str) -> datetime:
        if not isinstance(given, str):
            return self._now
        try:
            return clock.parse(clock.normalise_time(given)).astimezone(UTC)
        except ValueError as error:
            self.checker.refuse("INVALID_TIME", f"{entity}: {error}", entity)
            return self._now

    def _refuse(self, code: str, described: str, number: int, field: str = "") -> None:
        self.checker.refuse(code, described, f"checks[{number}].{field}" if field else f"checks[{number}]")

    def _refuse_unknown(self, given: Mapping[Any, Any], known: Collection[str], entity: str) -> None:
        for name in [str(name) for name in given if name not in known][:MAX_PROBLEMS]:
            quoted = name[:MAX_LENGTH]
            self.checker.refuse("UNKNOWN_FIELD", f"unknown field `{quoted}`; {hint(name, known)}", f"{entity}.{quoted}")


_NOTHING = ParsedCheck(0, "READ", "", 0, "data")


def normalised(reference: str) -> str:
    """A reference as assets are stored: an id in lower case, a name in Unicode normal form C."""
    if ids.looks_like_uuid(reference):
        return reference.lower()
    return unicodedata.normalize("NFC", reference).strip()
