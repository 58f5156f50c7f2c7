"""One run: compares a target with what was decided for it, repairs and changes what differs."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeVar

from lily.model.errors import LilyError, Terminal
from lily.plugins.enforcers import Drift, Enforcer, Failure, Finding, Path
from lily.reactions.enforcement.wanted import Enforced

Result = TypeVar("Result")
MAX_SHOWN = 10  # deviations that the report of a table names


class PluginFailed(Terminal):
    """An enforcer raised something that its port does not provide for."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """`drift` is what was changed by hand, one per table; `findings` are None if the target was not planned anew."""

    steps: int = 0
    drift: tuple[Drift, ...] = ()
    failures: tuple[Failure, ...] = ()
    findings: tuple[Finding, ...] | None = field(default=None)
    waits: bool = False  # for a person to run the script


def bring_in_line(enforcer: Enforcer, enforced: Enforced, confirmed: Mapping[Path, bytes]) -> Outcome:
    """`confirmed` has the digests of the decisions with which tables were last in line.

    A table whose decisions are the same since and that deviates was changed by hand. Where the decisions have changed
    too, the two cannot be told apart, and the table is simply brought in line.
    """
    unchanged = {path for path, digest in enforced.digests.items() if confirmed.get(path) == digest}
    deviating = called(lambda: enforcer.verify(enforced.decisions)) if unchanged else ()
    drift = _by_table(one for one in deviating if one.table in unchanged)
    if not deviating and unchanged == enforced.digests.keys() == confirmed.keys():
        return Outcome()
    plan = called(lambda: enforcer.plan(enforced.decisions))
    failures = tuple(called(lambda: enforcer.apply(plan)))
    return Outcome(len(plan.steps), drift, failures, plan.findings)


def _by_table(deviations: Iterable[Drift]) -> tuple[Drift, ...]:
    """One report per table, however much of it was changed."""
    tables: dict[Path, list[Drift]] = {}
    for one in deviations:
        tables.setdefault(one.table, []).append(one)
    return tuple(
        Drift(path, _joined(one.found for one in listed), _joined(one.expected for one in listed))
        for path, listed in tables.items()
    )


def _joined(texts: Iterable[str]) -> str:
    return "; ".join(islice(texts, MAX_SHOWN))


def called(call: Callable[[], Result]) -> Result:
    """What a plug-in returns. Raises LilyError alone, whatever the plug-in raises."""
    try:
        return call()
    except LilyError:
        raise
    except Exception as error:
        raise PluginFailed(f"the enforcer failed: {type(error).__name__}: {error}. Report it to its author.") from error
