"""What the suites of enforcers share, whether their target can be read or not."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from lily.plugins.enforcers import Decision
from lily.plugins.groups import ENFORCERS
from lily.testing.suite import ConfiguredSuite


class TargetSuite(ConfiguredSuite):
    """Override everything that raises here. Every test first reverts what an earlier one applied."""

    group = ENFORCERS

    def decisions(self) -> Sequence[Decision]:
        raise NotImplementedError("return decisions for at least two tables, each of which changes the target")

    def state(self) -> Any:
        raise NotImplementedError("return what the target shows or was sent, comparable with ==; repeats count once")

    def unreachable(self) -> Mapping[str, Any]:
        raise NotImplementedError("return the settings of a target that does not exist or does not respond")

    @contextmanager
    def clean(self) -> Iterator[Any]:
        with closing(self.made()) as enforcer:
            enforcer.remove()
            yield enforcer

    def applied(self, enforcer: Any, decisions: Sequence[Decision] | None = None) -> Any:
        """The state after `decisions` were applied, by default all of the suite's."""
        failures = list(enforcer.apply(enforcer.plan(self.decisions() if decisions is None else decisions)))
        assert not failures, f"apply could not change what the suite decides: {failures}"
        return self.state()

    def test_removing_leaves_the_target_as_it_was(self) -> None:
        with self.clean() as enforcer:
            before = self.state()
            self.applied(enforcer)
            enforcer.remove()
            assert self.state() == before, "remove left something behind"
            enforcer.remove()
            assert self.state() == before, "the second remove changed the target"

    def test_closing_twice_is_harmless(self) -> None:
        enforcer = self.made()
        enforcer.close()
        enforcer.close()
