"""Policies as code: a file with policies, roles, users, assets and expected decisions, run by the engine itself."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml  # type: ignore[import-untyped]

from lily.api.policy.checks import Batch, normalised, parse_checks
from lily.api.policy.outcomes import CANONICAL, decided, decision_dict
from lily.api.policy.settings import AccessSettings
from lily.model import ids
from lily.model.errors import Problem, Refused, Terminal
from lily.model.suggestions import hint
from lily.policy import (
    EFFECTS,
    Ancestor,
    Facts,
    Policy,
    PolicyIndex,
    User,
    compile_policies,
    conjunction,
    fold,
    parse_policy,
    parse_role,
    parse_row_filter,
    parse_user,
    refuse_role_cycle,
)
from lily.policy.names_above import names_above

T = TypeVar("T")

SECTIONS = ("policies", "roles", "users", "assets", "settings", "tests")
ASSET_FIELDS = ("qualified_name", "entity_type", "data_source", "parent", "tags", "attributes")
TEST_FIELDS = ("name", "principal", "action", "asset", "context", "plane", "expect")
EXPECTED_FIELDS = ("effect", "policy_id", "mask", "row_filter")
TENANT = "test"  # ids of assets depend on the tenant; names do not
MAX_DEPTH = 64


class BadPolicyFile(Terminal):
    """The file cannot be read, or is not a file of policies."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`differences`: by field, what was expected and what was decided. `known`: whether the file has the asset."""

    name: str
    differences: dict[str, tuple[Any, Any]]
    reason: str
    known: bool

    def as_dict(self) -> dict[str, Any]:
        differences = {field: {"expected": pair[0], "found": pair[1]} for field, pair in self.differences.items()}
        return {"name": self.name, "differences": differences, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class PolicyFile:
    index: PolicyIndex
    users: Mapping[str, User]
    facts: Mapping[str, Facts]
    settings: AccessSettings
    batch: Batch
    tests: Sequence[Mapping[str, Any]]

    def run(self) -> list[Outcome]:
        """One outcome per test, in order."""
        principals = [named.principal(self.users) for named in self.batch.principals]
        facts = {asset: self.facts.get(fold(asset)) for asset in self.batch.assets}
        found = decided(self.index, self.settings, self.batch, principals, facts)
        known = [facts[check.asset] is not None for check in self.batch.checks]
        return [
            _outcome(test, decision_dict(decision), known=is_known)
            for test, decision, is_known in zip(self.tests, found, known, strict=True)
        ]


def read_policy_file(path: Path) -> PolicyFile:
    """Raises BadPolicyFile, or Refused with the problems of a policy, role, user, asset or test."""
    content = _content(path)
    _refuse_unknown(content, SECTIONS, path.name)
    policies = _parsed(content, "policies", _policy)
    roles = _parsed(content, "roles", parse_role)
    refuse_role_cycle(roles)
    users = _parsed(content, "users", parse_user)
    tests = _section(content, "tests")
    if not tests:
        raise BadPolicyFile(f"{path} has no `tests`. Add one: principal, action, asset and expect.")
    checks = [_check(test, number) for number, test in enumerate(tests)]
    return PolicyFile(
        compile_policies(TENANT, policies, roles),
        {fold(user.name): user for user in users},
        {fold(facts.qualified_name): facts for facts in _facts(content)},
        AccessSettings.of(content.get("settings")),
        parse_checks(checks),
        tests,
    )


def _content(path: Path) -> dict[str, Any]:
    try:
        content = yaml.safe_load(path.read_text())  # every JSON file is one of YAML
    except OSError as error:
        raise BadPolicyFile(f"{path} cannot be read: {error.strerror}.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise BadPolicyFile(f"{path} is neither YAML nor JSON: {error}") from error
    if not isinstance(content, dict):
        raise BadPolicyFile(f"{path} must be an object with: {', '.join(SECTIONS)}.")
    return content


def _section(content: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    entries = content.get(name) or []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise BadPolicyFile(f"`{name}` must be a list of objects.")
    return entries


def _parsed(content: Mapping[str, Any], section: str, parse: Callable[[dict[str, Any]], T]) -> list[T]:
    """Raises Refused with the problems of all entries; each names its entry, because a file has many."""
    parsed: list[T] = []
    problems: list[Problem] = []
    for number, body in enumerate(_section(content, section)):
        place, name = f"{section}[{number}]", body.get("id") or body.get("name")
        try:
            parsed.append(parse(body))
        except Refused as error:
            where = f"{place} ({name})" if name else place
            problems += [
                Problem(one.code, f"{where}: {one.description}", f"{place}.{one.entity}") for one in error.problems
            ]
    if problems:
        raise Refused(*problems)
    return parsed


def _policy(body: Mapping[str, Any]) -> Policy:
    """One without an id is identified by its name."""
    stated = {field: value for field, value in body.items() if field != "id"}
    return parse_policy(stated, tenant=TENANT, policy_id=str(body.get("id") or body.get("name") or ""))


def _facts(content: Mapping[str, Any]) -> Iterator[Facts]:
    """Assets have the tags of their ancestors too, as in the catalogue."""
    assets: dict[str, dict[str, Any]] = {}
    for number, body in enumerate(_section(content, "assets")):
        _refuse_unknown(body, ASSET_FIELDS, f"assets[{number}]")
        if not isinstance(body.get("qualified_name"), str):
            raise BadPolicyFile(f"assets[{number}] needs a `qualified_name`.")
        assets[fold(normalised(body["qualified_name"]))] = body
    for body in assets.values():
        above = list(_above(body, assets))
        tags = [tag for one in (body, *above) for tag in one.get("tags") or ()]
        name = normalised(body["qualified_name"])
        ancestors = tuple(Ancestor(ids.asset_id(TENANT, one["qualified_name"]), one["qualified_name"]) for one in above)
        yield Facts(
            ids.asset_id(TENANT, name),
            name,
            str(body.get("entity_type") or "table"),
            str(body.get("data_source") or ""),
            ancestors,
            tags,
            body.get("attributes") or {},
            names_above(TENANT, name, ancestors),
        )


def _above(body: Mapping[str, Any], assets: Mapping[str, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for _ in range(MAX_DEPTH):
        parent = body.get("parent")
        if parent is None:
            return
        if fold(str(parent)) not in assets:
            raise BadPolicyFile(f"The parent {parent!r} of {body['qualified_name']!r} is not among the `assets`.")
        body = assets[fold(str(parent))]
        yield dict(body)


def _check(test: Mapping[str, Any], number: int) -> dict[str, Any]:
    _refuse_unknown(test, TEST_FIELDS, f"tests[{number}]")
    expected = test.get("expect")
    if isinstance(expected, Mapping):
        _refuse_unknown(expected, EXPECTED_FIELDS, f"tests[{number}].expect")
        effect = expected.get("effect", EFFECTS[0])
    else:
        effect = expected
    if effect not in EFFECTS:
        described = f"tests[{number}].expect must be an effect or an object with one; {hint(str(effect), EFFECTS)}"
        raise Refused(Problem("INVALID_VALUE", described, f"tests[{number}].expect"))
    check = {"principal": test.get("principal"), "action": test.get("action", "READ"), "asset_id": test.get("asset")}
    return check | {field: test[field] for field in ("context", "plane") if field in test}


def _refuse_unknown(given: Mapping[Any, Any], known: tuple[str, ...], within: str) -> None:
    unknown = [str(field) for field in given if field not in known]
    if unknown:
        described = f"unknown field `{unknown[0][:64]}` in {within}; {hint(unknown[0], known)}"
        raise Refused(Problem("UNKNOWN_FIELD", described, within))


def _outcome(test: Mapping[str, Any], found: Mapping[str, Any], *, known: bool) -> Outcome:
    expected = dict(test["expect"]) if isinstance(test["expect"], Mapping) else {"effect": test["expect"]}
    if "row_filter" in expected:
        expected["row_filter"] = _as_decided(expected["row_filter"], found.get("row_filter"))
    name = test.get("name") or f"{_shown(test.get('principal'))} {test.get('action', 'READ')} {test.get('asset')}"
    differences = {field: (value, found.get(field)) for field, value in expected.items() if found.get(field) != value}
    return Outcome(str(name), differences, str(found["reason"]), known)


def _as_decided(expected: Any, found: Any) -> Any:
    """The filter as decisions write it, so that a test can state it as its policy does."""
    if expected == found or not isinstance(expected, str):
        return expected
    try:
        return conjunction([parse_row_filter(expected)], CANONICAL)
    except Refused:
        return expected  # the difference is reported with the text as it was stated


def _shown(principal: Any) -> str:
    if not isinstance(principal, Mapping):
        return str(principal)
    parts = [
        f"{kind}={','.join(map(str, value)) if isinstance(value, list) else value}" for kind, value in principal.items()
    ]
    return " ".join(parts)
