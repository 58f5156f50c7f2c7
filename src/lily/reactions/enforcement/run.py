"""One run: compares a target with what was decided for it, repairs and changes what differs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from lily.model.errors import LilyError, Terminal
from lily.plugins.enforcers import Drift, Enforcer, Failure, Finding, Path
from lily.reactions.enforcement.wanted import Enforced

Result = TypeVar("Result")


class PluginFailed(Terminal):
    """An enforcer raised something that its port does not provide for."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`drift` is what was changed by hand; `findings` are None if the target was not planned anew."""

    steps: int = 0
    drift: tuple[Drift, ...] = ()
    failures: tuple[Failure, ...] = ()
    findings: tuple[Finding, ...] | None = field(default=None)


def bring_in_line(enforcer: Enforcer, enforced: Enforced, confirmed: Mapping[Path, bytes]) -> Outcome:
    """`confirmed` has the digests of the decisions with which tables were last in line.

    A table whose decisions are the same since and that deviates was changed by hand. Where the decisions have changed
    too, the two cannot be told apart, and the table is simply brought in line.
    """
    unchanged = {path for path, digest in enforced.digests.items() if confirmed.get(path) == digest}
    deviating = called(lambda: enforcer.verify(enforced.decisions)) if unchanged else ()
    drift = tuple(one for one in deviating if one.table in unchanged)
    if not deviating and unchanged == enforced.digests.keys() == confirmed.keys():
        return Outcome()
    plan = called(lambda: enforcer.plan(enforced.decisions))
    failures = tuple(called(lambda: enforcer.apply(plan)))
    return Outcome(len(plan.steps), drift, failures, plan.findings)


def called(call: Callable[[], Result]) -> Result:
    """What a plug-in returns. Raises LilyError alone, whatever the plug-in raises."""
    try:
        return call()
    except LilyError:
        raise
    except Exception as error:
        raise PluginFailed(f"the enforcer failed: {type(error).__name__}: {error}. Report it to its author.") from error
