"""Every promise that the suite of outbound enforcers tests is broken here once, and the suite notices."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lily.plugins import Failure, Inventory, Plan
from lily.testing import OutboundEnforcerSuite
from tests.sample_plugins.mailbox import Mailbox
from tests.unit import test_suites_on_plugins
from tests.unit.suites.broken import Broken, Careless, NoMethods, closing_once, promises_of, run


class CarelessMailbox(Mailbox):
    Config = Careless  # type: ignore[assignment]


class ReadsItself(Mailbox):
    def inventory(self) -> Any:
        return Inventory((), ())


class SendsByPlanning(Mailbox):
    def plan(self, decisions: Sequence[Any]) -> Plan:
        plan = super().plan(decisions)
        self.apply(plan)
        return plan


class SendsNothing(Mailbox):
    def apply(self, plan: Plan) -> list[Failure]:  # noqa: ARG002
        return []


class Appends(Mailbox):
    def apply(self, plan: Plan) -> Sequence[Failure]:
        for step in plan.steps:
            with (self._path / ".".join(step.table)).open("a") as file:
                file.write(step.change)
        return []


class ForgetsOthers(Mailbox):
    def apply(self, plan: Plan) -> Sequence[Failure]:
        self.remove()
        return super().apply(plan)


class KeepsOrder(Mailbox):
    def plan(self, decisions: Sequence[Any]) -> Plan:
        return Plan(tuple(step for one in decisions for step in super(KeepsOrder, self).plan([one]).steps))


class FirstStays(Mailbox):
    def apply(self, plan: Plan) -> Sequence[Failure]:
        new = [step for step in plan.steps if not (self._path / ".".join(step.table)).exists()]
        return super().apply(Plan(tuple(new)))


class NeverWithdraws(Mailbox):
    def apply(self, plan: Plan) -> Sequence[Failure]:
        return super().apply(Plan(tuple(step for step in plan.steps if step.change)))


class NeverRemoves(Mailbox):
    def remove(self) -> None:
        self._check()


class ConfirmsAnything(Mailbox):
    def _check(self) -> None:
        self._path.mkdir(exist_ok=True)


OUTBOUND: list[Broken] = [
    (NoMethods, "test_the_class_satisfies_its_port"),
    (CarelessMailbox, "test_a_misspelt_setting_is_refused"),
    (ReadsItself, "test_it_has_no_inventory"),
    (SendsByPlanning, "test_a_plan_changes_nothing"),
    (SendsNothing, "test_what_is_applied_arrives"),
    (Appends, "test_applying_twice_is_applying_once"),
    (ForgetsOthers, "test_tables_that_are_not_given_stay_as_they_are"),
    (KeepsOrder, "test_the_order_of_decisions_does_not_matter"),
    (FirstStays, "test_a_newer_version_replaces_the_decisions_of_a_table"),
    (NeverWithdraws, "test_a_table_that_is_no_longer_enforced_is_withdrawn"),
    (NeverRemoves, "test_removing_leaves_the_target_as_it_was"),
    (ConfirmsAnything, "test_a_target_that_is_not_there_is_reported"),
    (closing_once(Mailbox), "test_closing_twice_is_harmless"),
]


@pytest.mark.parametrize("broken", OUTBOUND, ids=str)
def test_the_suite_of_outbound_enforcers_notices(broken: Broken, tmp_path: Path) -> None:
    run(test_suites_on_plugins.TestMailbox, broken, path=tmp_path)


def test_every_promise_of_the_suite_is_broken_here() -> None:
    assert promises_of(OutboundEnforcerSuite) == {test for _, test in OUTBOUND}
