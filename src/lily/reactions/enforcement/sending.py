"""One run of a target that cannot be read: what it has not confirmed is announced, and then sent."""

from collections.abc import Mapping
from dataclasses import replace

from lily.plugins.enforcers import Decision, Enforcer, Path
from lily.reactions.enforcement.run import Outcome, called
from lily.reactions.enforcement.wanted import Enforced
from lily.store.postgres.enforcement.ledger import Sent, TargetLedger

WITHDRAWN = b""  # as the digest of a table without decisions


def send_changes(enforcer: Enforcer, enforced: Enforced, ledger: TargetLedger, key: str) -> Outcome | None:
    """None if something had to be announced: another run has to send it once that is committed. If a worker is killed
    after it has sent something, the next one then knows that the target may have it."""
    sent = ledger.sent(key)
    changed = unconfirmed(enforced.digests, sent)
    if ledger.announce(key, changed):
        return None
    if not changed:
        return Outcome(findings=())
    plan = called(lambda: enforcer.plan(changed_decisions(enforced, changed, sent)))
    if plan.by_hand:
        return Outcome(findings=plan.findings, waits=True)
    failures = tuple(called(lambda: enforcer.apply(plan)))
    return Outcome(len(plan.steps), (), failures, plan.findings)


def unconfirmed(digests: Mapping[Path, bytes], sent: Mapping[Path, Sent]) -> dict[Path, bytes]:
    """What a target that cannot be read has to be sent: by table the digest of its decisions, WITHDRAWN for one that is
    no longer enforced. What it may have got without confirming it counts as unknown."""
    changed = {path: digest for path, digest in digests.items() if not _is_confirmed(sent.get(path), digest)}
    return changed | {path: WITHDRAWN for path in sent if path not in digests}


def changed_decisions(enforced: Enforced, changed: Mapping[Path, bytes], sent: Mapping[Path, Sent]) -> list[Decision]:
    """With the versions under which they were announced; 0 if they were not yet."""
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
