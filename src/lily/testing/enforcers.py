"""The behaviour of an enforcer, on a real target."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from lily.plugins.enforcers import Decision, Enforcer
from lily.testing.suite import assert_reported, failure
from lily.testing.targets import TargetSuite


class EnforcerSuite(TargetSuite):
    """For targets that can be read: `state` returns the grants, views and filters that the target shows."""

    def tamper(self) -> None:
        raise NotImplementedError("undo by hand, in the target, part of what `decisions` brought about")

    def test_the_inventory_has_what_can_be_decided(self) -> None:
        with self.clean() as enforcer:
            found = enforcer.inventory()
            assert found is not None, "a target that cannot be read is tested by OutboundEnforcerSuite"
            columns = {table.path: {column.name for column in table.columns} for table in found.tables}
            roles = {role.name for role in found.roles}
            for one in self.decisions():
                assert one.table in columns, f"the inventory lacks the table {one.table}"
                assert not one.column or one.column in columns[one.table], (
                    f"the inventory lacks the column {one.column}"
                )
                assert roles.issuperset(one.principals), f"the inventory lacks one of the roles {one.principals}"

    def test_a_role_that_the_target_lacks_is_reported(self) -> None:
        with self.clean() as enforcer:
            more = [replace(one, principals=(*one.principals, "no_such_role")) for one in self.decisions()]
            plan = enforcer.plan(more)
            assert any("no_such_role" in finding for one in plan.findings for finding in one), "nothing was reported"
            assert not list(enforcer.apply(plan)), "a missing role kept the others from being enforced"
            assert not enforcer.plan(more).steps, "the missing role is planned for again and again"

    def test_a_table_that_the_target_lacks_is_reported(self) -> None:
        with self.clean() as enforcer:
            first = self.decisions()[0]
            lost = replace(first, table=(*first.table[:-1], "no_such_table"), column="")
            plan = enforcer.plan([lost, *self.decisions()])
            assert any("no_such_table" in finding for one in plan.findings for finding in one), "nothing was reported"
            assert not list(enforcer.apply(plan)), "a missing table kept the others from being enforced"
            assert not list(enforcer.verify(self.decisions())), "the other tables are not in line"

    def test_a_plan_changes_nothing(self) -> None:
        with self.clean() as enforcer:
            before = self.state()
            assert enforcer.plan(self.decisions()).steps, "the decisions of the suite have to change the target"
            assert self.state() == before, "plan changed the target"

    def test_what_is_applied_is_in_line(self) -> None:
        with self.clean() as enforcer:
            before = self.state()
            self.applied(enforcer)
            assert self.state() != before, "apply changed nothing"
            assert not enforcer.plan(self.decisions()).steps, "after apply there is still something to do"
            assert not list(enforcer.verify(self.decisions())), "after apply there is drift"

    def test_applying_twice_is_applying_once(self) -> None:
        with self.clean() as enforcer:
            plan = enforcer.plan(self.decisions())
            enforcer.apply(plan)
            once = self.state()
            enforcer.apply(plan)
            assert self.state() == once, "the second apply changed the target"

    def test_the_order_of_decisions_does_not_matter(self) -> None:
        with self.clean() as enforcer:
            self.applied(enforcer)
            once = self.state()
            enforcer.remove()
            turned = self._state_after(enforcer, list(reversed(self.decisions())))
            assert turned == once, "decisions in another order gave another target"

    def test_a_decision_that_is_gone_is_taken_back(self) -> None:
        with self.clean() as enforcer:
            fewer = self.decisions()[:-1]
            with_fewer = self._state_after(enforcer, fewer)
            self.applied(enforcer)
            again = self._state_after(enforcer, fewer)
            assert again == with_fewer, "the effect of the withdrawn decision is still there"

    def test_drift_is_found_and_repaired(self) -> None:
        with self.clean() as enforcer:
            self.applied(enforcer)
            in_line = self.state()
            self.tamper()
            assert self.state() != in_line, "tamper has to change the target"
            assert list(enforcer.verify(self.decisions())), "verify did not notice what was undone by hand"
            self.applied(enforcer)
            assert self.state() == in_line, "plan and apply did not repair it"

    def test_a_target_that_is_not_there_is_reported(self) -> None:
        with closing(self.made(self.unreachable())) as enforcer:
            assert_reported(failure(lambda: enforcer.plan(self.decisions())), "plan of a target that is not there")
            assert_reported(failure(lambda: enforcer.verify(self.decisions())), "verify of a target that is not there")

    def _state_after(self, enforcer: Enforcer, decisions: Sequence[Decision]) -> object:
        enforcer.apply(enforcer.plan(decisions))
        return self.state()
