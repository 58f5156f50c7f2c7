"""The behaviour of an enforcer, on a real target."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from lily.plugins.enforcers import Decision, Enforcer
from lily.plugins.groups import ENFORCERS
from lily.testing.suite import ConfiguredSuite, assert_reported, failure


class EnforcerSuite(ConfiguredSuite):
    """Override everything that raises here. Every test first reverts what an earlier one applied."""

    group = ENFORCERS

    def decisions(self) -> Sequence[Decision]:
        raise NotImplementedError("return at least two decisions that change the target")

    def state(self) -> Any:
        raise NotImplementedError("return what the target shows: its grants, views and filters, comparable with ==")

    def tamper(self) -> None:
        raise NotImplementedError("undo by hand, in the target, part of what `decisions` brought about")

    def unreachable(self) -> Mapping[str, Any]:
        raise NotImplementedError("return the settings of a target that does not exist or does not respond")

    @contextmanager
    def clean(self) -> Iterator[Any]:
        with closing(self.made()) as enforcer:
            enforcer.remove()
            yield enforcer

    def applied(self, enforcer: Any) -> None:
        enforcer.apply(enforcer.plan(self.decisions()))

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

    def test_removing_leaves_the_target_as_it_was(self) -> None:
        with self.clean() as enforcer:
            before = self.state()
            self.applied(enforcer)
            enforcer.remove()
            assert self.state() == before, "remove left something behind"
            enforcer.remove()
            assert self.state() == before, "the second remove changed the target"

    def test_a_target_that_is_not_there_is_reported(self) -> None:
        with closing(self.made(self.unreachable())) as enforcer:
            assert_reported(failure(lambda: enforcer.plan(self.decisions())), "plan of a target that is not there")
            assert_reported(failure(lambda: enforcer.verify(self.decisions())), "verify of a target that is not there")

    def test_closing_twice_is_harmless(self) -> None:
        enforcer = self.made()
        enforcer.close()
        enforcer.close()

    def _state_after(self, enforcer: Enforcer, decisions: Sequence[Decision]) -> object:
        enforcer.apply(enforcer.plan(decisions))
        return self.state()
