"""An enforcer whose target reads its rules from a JSON file, as some query engines do."""

import json
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from lily.model.errors import Terminal
from lily.plugins import Decision, Drift, Plan, Step


class RulesFileConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    path: Path


class RulesFile:
    """The file's own rules are kept; Lily's stand under `lily`."""

    Config = RulesFileConfig

    def __init__(self, config: RulesFileConfig) -> None:
        self._path = config.path

    def plan(self, decisions: Sequence[Decision]) -> Plan:
        now, wanted = self._rules(), _rules(decisions)
        lost = [Step(name, json.dumps([name, None])) for name in sorted(now.keys() - wanted.keys())]
        new = [Step(name, json.dumps([name, rule])) for name, rule in wanted.items() if now.get(name) != rule]
        return Plan((*lost, *new))

    def apply(self, plan: Plan) -> None:
        rules = self._rules()
        for step in plan.steps:
            name, rule = json.loads(step.change)
            if rule is None:
                rules.pop(name, None)
            else:
                rules[name] = rule
        self._write(rules)

    def verify(self, decisions: Sequence[Decision]) -> list[Drift]:
        now, wanted = self._rules(), _rules(decisions)
        names = sorted(now.keys() | wanted.keys())
        return [Drift(n, now.get(n, ""), wanted.get(n, "")) for n in names if now.get(n) != wanted.get(n)]

    def remove(self) -> None:
        self._write({})

    def close(self) -> None:
        """Holds nothing."""

    def _document(self) -> dict[str, dict[str, str]]:
        try:
            return dict(json.loads(self._path.read_text()))
        except (OSError, ValueError) as error:
            raise Terminal(f"{self._path} cannot be read: {error}") from error

    def _rules(self) -> dict[str, str]:
        return dict(self._document().get("lily", {}))

    def _write(self, rules: dict[str, str]) -> None:
        document = self._document()
        document.pop("lily", None)
        if rules:
            document["lily"] = dict(sorted(rules.items()))
        self._path.write_text(json.dumps(document))


def _rules(decisions: Sequence[Decision]) -> dict[str, str]:
    return {f"{one.asset}/{one.principal}": one.mask or one.effect for one in decisions}
