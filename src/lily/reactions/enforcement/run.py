"""One run: compares a target with what was decided for it, repairs and changes what differs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from lily.model.errors import LilyError, Terminal
from lily.plugins.enforcers import Decision, Drift, Enforcer, Failure, Finding, Path
from lily.reactions.enforcement.wanted import Enforced
from lily.store.postgres.enforcement.ledger import Sent

Result = TypeVar("Result")
WITHDRAWN = b""  # as the digest of a table without decisions


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


def unconfirmed(digests: Mapping[Path, bytes], sent: Mapping[Path, Sent]) -> dict[Path, bytes]:
    """What a target that cannot be read has to be sent: by table the digest of its decisions, WITHDRAWN for one that is
    no longer enforced. What it may have got without confirming it counts as unknown."""
    changed = {path: digest for path, digest in digests.items() if not _is_confirmed(sent.get(path), digest)}
    return changed | {path: WITHDRAWN for path in sent if path not in digests}


def send(enforcer: Enforcer, enforced: Enforced, changed: Mapping[Path, bytes], sent: Mapping[Path, Sent]) -> Outcome:
    """Sends the decisions of tables that changed, with the versions under which they were announced."""
    plan = called(lambda: enforcer.plan(changed_decisions(enforced, changed, sent)))
    failures = tuple(called(lambda: enforcer.apply(plan)))
    return Outcome(len(plan.steps), (), failures, plan.findings)


def changed_decisions(enforced: Enforced, changed: Mapping[Path, bytes], sent: Mapping[Path, Sent]) -> list[Decision]:
    versions = {path: sent[path].version for path in changed if path in sent}
    stated = [
        replace(decision, version=versions.get(decision.table, 0))
        for decision in enforced.decisions
        if decision.table in changed
    ]
    gone = [path for path, digest in changed.items() if digest == WITHDRAWN]
    return stated + [Decision(".".join(path), path, (), "withdrawn", version=versions.get(path, 0)) for path in gone]


def _is_confirmed(sent: Sent | None, digest: bytes) -> bool:
    return sent is not None and sent.announced is None and sent.confirmed == digest


def called(call: Callable[[], Result]) -> Result:
    """What a plug-in returns. Raises LilyError alone, whatever the plug-in raises."""
    try:
        return call()
    except LilyError:
        raise
    except Exception as error:
        raise PluginFailed(f"the enforcer failed: {type(error).__name__}: {error}. Report it to its author.") from error
