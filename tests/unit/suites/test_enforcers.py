"""Every promise that the suite of enforcers tests is broken here once, and the suite notices."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lily.plugins import Failure, Inventory, Plan
from lily.testing import EnforcerSuite
from tests.sample_plugins.rules_file import RulesFile
from tests.unit import test_suites_on_plugins
from tests.unit.suites.broken import Broken, Careless, NoMethods, closing_once, promises_of, run


class PlansByDoing(RulesFile):
    def plan(self, decisions: Sequence[Any]) -> Plan:
        plan = super().plan(decisions)
        self.apply(plan)
        return plan


class DoesNothing(RulesFile):
    def apply(self, plan: Plan) -> list[Failure]:  # noqa: ARG002
        return []


class KnowsNothing(RulesFile):
    def inventory(self) -> Inventory:
        return Inventory((), ())


class ReportsNothing(RulesFile):
    def plan(self, decisions: Sequence[Any]) -> Plan:
        return Plan(super().plan(decisions).steps)


class Counts(RulesFile):
    def apply(self, plan: Plan) -> Sequence[Failure]:
        failures = super().apply(plan)
        document = self._document()
        document["applied"] = {"times": str(int(document.get("applied", {}).get("times", 0)) + 1)}
        self._path.write_text(json.dumps(document))
        return failures


class FirstWins(RulesFile):
    def plan(self, decisions: Sequence[Any]) -> Plan:
        return super().plan(decisions[:1])


class NeverTakesBack(RulesFile):
    def plan(self, decisions: Sequence[Any]) -> Plan:
        return Plan(tuple(step for step in super().plan(decisions).steps if not step.change.endswith("null]")))


class SeesNoDrift(RulesFile):
    def verify(self, decisions: Sequence[Any]) -> list[Any]:  # noqa: ARG002
        return []


class LeavesTraces(RulesFile):
    def remove(self) -> None:
        was_applied = "lily" in self._document()
        super().remove()
        if was_applied:
            self._path.write_text(json.dumps(self._document() | {"removed": {}}))


class HidesErrors(RulesFile):
    def _document(self) -> dict[str, dict[str, Any]]:
        return super()._document() if self._path.exists() else {"own": {"tables": {}, "roles": []}}


class CarelessRules(RulesFile):
    Config = Careless  # type: ignore[assignment]


ENFORCERS: list[Broken] = [
    (NoMethods, "test_the_class_satisfies_its_port"),
    (CarelessRules, "test_a_misspelt_setting_is_refused"),
    (PlansByDoing, "test_a_plan_changes_nothing"),
    (KnowsNothing, "test_the_inventory_has_what_can_be_decided"),
    (ReportsNothing, "test_a_role_that_the_target_lacks_is_reported"),
    (ReportsNothing, "test_a_table_that_the_target_lacks_is_reported"),
    (DoesNothing, "test_what_is_applied_is_in_line"),
    (Counts, "test_applying_twice_is_applying_once"),
    (FirstWins, "test_the_order_of_decisions_does_not_matter"),
    (NeverTakesBack, "test_a_decision_that_is_gone_is_taken_back"),
    (SeesNoDrift, "test_drift_is_found_and_repaired"),
    (LeavesTraces, "test_removing_leaves_the_target_as_it_was"),
    (HidesErrors, "test_a_target_that_is_not_there_is_reported"),
    (closing_once(RulesFile), "test_closing_twice_is_harmless"),
]


@pytest.mark.parametrize("broken", ENFORCERS, ids=str)
def test_the_suite_of_enforcers_notices(broken: Broken, tmp_path: Path) -> None:
    path = tmp_path / "rules.json"
    path.write_text(test_suites_on_plugins.OWN_RULES)
    run(test_suites_on_plugins.TestRulesFile, broken, path=path)


def test_every_promise_of_the_suite_is_broken_here() -> None:
    assert promises_of(EnforcerSuite) == {test for _, test in ENFORCERS}
