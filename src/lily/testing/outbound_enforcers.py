"""The behaviour of an enforcer whose target cannot be read, such as a receiver of messages."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from lily.plugins.enforcers import Decision
from lily.plugins.surroundings import Surroundings, situated
from lily.testing.suite import assert_reported, failure
from lily.testing.targets import TargetSuite


class OutboundEnforcerSuite(TargetSuite):
    """For targets that cannot be read: `state` returns what the target knows of each table, and `decisions` have a
    version above 0."""

    def surroundings(self) -> Surroundings:
        """Where the enforcer runs, if it wants to know. Override it to allow networks, or to have a Kafka."""
        return Surroundings("tenant", "target", datetime(2026, 1, 1, tzinfo=UTC))

    def made(self, settings: Mapping[str, Any] | None = None) -> Any:
        return situated(super().made(settings), self.surroundings())

    def test_it_has_no_inventory(self) -> None:
        with self.clean() as enforcer:
            assert enforcer.inventory() is None, "a target that has an inventory is tested by EnforcerSuite"

    def test_a_plan_changes_nothing(self) -> None:
        with self.clean() as enforcer:
            before = self.state()
            planned = {step.table for step in enforcer.plan(self.decisions()).steps}
            assert planned == {one.table for one in self.decisions()}, "the plan has not one step or more per table"
            assert self.state() == before, "plan changed the target"

    def test_what_is_applied_arrives(self) -> None:
        with self.clean() as enforcer:
            before = self.state()
            assert self.applied(enforcer, self.decisions()) != before, "apply changed nothing"

    def test_applying_twice_is_applying_once(self) -> None:
        with self.clean() as enforcer:
            once = self.applied(enforcer, self.decisions())
            assert self.applied(enforcer, self.decisions()) == once, "the target cannot tell a repeat"

    def test_tables_that_are_not_given_stay_as_they_are(self) -> None:
        with self.clean() as enforcer:
            together = self.applied(enforcer, self.decisions())
            enforcer.remove()
            for table in {one.table for one in self.decisions()}:
                last = self.applied(enforcer, [one for one in self.decisions() if one.table == table])
            assert last == together, "a plan of one table changed another one"

    def test_the_order_of_decisions_does_not_matter(self) -> None:
        with self.clean() as enforcer:
            backwards = list(reversed(self.decisions()))
            assert enforcer.plan(backwards) == enforcer.plan(self.decisions()), "decisions in another order differ"

    def test_a_newer_version_replaces_the_decisions_of_a_table(self) -> None:
        with self.clean() as enforcer:
            first = self.decisions()[0]
            denied = replace(first, effect="deny", column="", mask="", version=first.version + 1)
            before = self.applied(enforcer, self.decisions())
            assert self.applied(enforcer, [denied]) != before, "the newer decisions did not arrive"
            again = [replace(one, version=first.version + 2) for one in self.decisions() if one.table == first.table]
            assert self.applied(enforcer, again) != self.state_of(enforcer, [denied]), "the newest did not arrive"

    def test_a_table_that_is_no_longer_enforced_is_withdrawn(self) -> None:
        with self.clean() as enforcer:
            first = self.decisions()[0]
            rest = [one for one in self.decisions() if one.table != first.table]
            without = self.state_of(enforcer, rest)
            self.applied(enforcer, self.decisions())
            gone = Decision(first.asset, first.table, (), "withdrawn", version=first.version + 1)
            assert self.applied(enforcer, [gone]) == without, "the withdrawn table is still there"

    def test_a_target_that_is_not_there_is_reported(self) -> None:
        with closing(self.made(self.unreachable())) as enforcer:
            lost: list[Any] = []
            error = failure(lambda: lost.extend(enforcer.apply(enforcer.plan(self.decisions()))))
            if error is None:
                tables = {one.table for one in self.decisions()}
                assert {one.table for one in lost} == tables, "apply to a target that is not there confirms tables"
            else:
                assert_reported(error, "apply to a target that is not there")
            assert_reported(failure(enforcer.remove), "remove of a target that is not there")

    def state_of(self, enforcer: Any, decisions: Sequence[Decision]) -> Any:
        """The state of a target that has only these."""
        enforcer.remove()
        return self.applied(enforcer, decisions)
