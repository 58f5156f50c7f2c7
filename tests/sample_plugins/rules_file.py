"""An enforcer whose target reads its rules from a JSON file, as some query engines do."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from lily.model.errors import Terminal
from lily.plugins import Decision, Drift, Failure, Finding, Inventory, Plan, Step, TargetColumn, TargetRole, TargetTable


class RulesFileConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: Path


class RulesFile:
    """`own` has the tables and roles that there are; Lily's rules stand under `lily`."""

    Config = RulesFileConfig

    def __init__(self, config: RulesFileConfig) -> None:
        self._path = config.path

    def inventory(self) -> Inventory:
        own = self._document()["own"]
        tables = [(tuple(name.split(".")), columns) for name, columns in own["tables"].items()]
        return Inventory(
            tuple(TargetTable(path, "table", tuple(TargetColumn(c, "text") for c in found)) for path, found in tables),
            tuple(TargetRole(name) for name in own["roles"]),
        )

    def plan(self, decisions: Sequence[Decision]) -> Plan:
        now, wanted = self._rules(), self._wanted(decisions)
        names = sorted(name for name in now.keys() | wanted.keys() if now.get(name) != wanted.get(name))
        return Plan(tuple(Step(_path(n), json.dumps([n, wanted.get(n)])) for n in names), self._findings(decisions))

    def apply(self, plan: Plan) -> Sequence[Failure]:
        rules = self._rules()
        for step in plan.steps:
            name, rule = json.loads(step.change)
            if rule is None:
                rules.pop(name, None)
            else:
                rules[name] = rule
        self._write(rules)
        return []

    def verify(self, decisions: Sequence[Decision]) -> list[Drift]:
        now, wanted = self._rules(), self._wanted(decisions)
        names = sorted(now.keys() | wanted.keys())
        return [Drift(_path(n), now.get(n, ""), wanted.get(n, "")) for n in names if now.get(n) != wanted.get(n)]

    def remove(self) -> None:
        self._write({})

    def close(self) -> None:
        """Holds nothing."""

    def _document(self) -> dict[str, dict[str, Any]]:
        try:
            return dict(json.loads(self._path.read_text()))
        except (OSError, ValueError) as error:
            raise Terminal(f"{self._path} cannot be read: {error}") from error

    def _wanted(self, decisions: Sequence[Decision]) -> dict[str, str]:
        inventory = self.inventory()
        roles = {role.name for role in inventory.roles}
        tables = {table.path for table in inventory.tables}
        return {
            f"{'.'.join((*one.table, one.column))}/{role}": one.mask or one.effect
            for one in decisions
            for role in one.principals
            if one.table in tables and role in roles
        }

    def _findings(self, decisions: Sequence[Decision]) -> tuple[Finding, ...]:
        inventory = self.inventory()
        tables = {one.table for one in decisions} - {table.path for table in inventory.tables}
        roles = {role for one in decisions for role in one.principals} - {role.name for role in inventory.roles}
        missing = sorted([*map(".".join, tables), *roles])
        return tuple(Finding(name, f"{self._path} does not have it; add it to `own`") for name in missing)

    def _rules(self) -> dict[str, str]:
        return dict(self._document().get("lily", {}))

    def _write(self, rules: dict[str, str]) -> None:
        document = self._document()
        document.pop("lily", None)
        if rules:
            document["lily"] = dict(sorted(rules.items()))
        self._path.write_text(json.dumps(document))


def _path(rule: str) -> tuple[str, ...]:
    return tuple(rule.rpartition("/")[0].split(".")[:-1])
