"""The job `enforce`: one run of one target, or a plan of it.

A run that fails records why and queues the next attempt itself, with growing pauses and without an end: a target that
is down for a week is in line again after it is back, and its jobs never become dead letters. Jobs of one target are a
group, so no two workers change it at the same time; the jobs of other targets do not wait for it.
"""

import time
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import structlog
from prometheus_client import CollectorRegistry
from psycopg import Connection

from lily.enforce.surroundings import surroundings_of
from lily.model import clock
from lily.model.errors import LilyError
from lily.plugins import ENFORCERS, TargetGone, installed, situated
from lily.plugins.enforcers import Enforcer, Finding, Plan
from lily.reactions.enforcement.metrics import EnforcementMetrics
from lily.reactions.enforcement.run import Outcome, bring_in_line, called
from lily.reactions.enforcement.script_requests import ScriptRequests
from lily.reactions.enforcement.sending import changed_decisions, send_changes, unconfirmed
from lily.reactions.enforcement.wanted import Enforced, enforced
from lily.settings import Settings
from lily.store.postgres.access.secrets import Vault
from lily.store.postgres.enforcement.ledger import Drifted, StoredTarget, TargetLedger
from lily.store.postgres.enforcement.targets import TASK, group_of
from lily.store.postgres.jobs.queue import Job, NewJob, enqueue
from lily.store.postgres.jobs.schedules import Schedule, Schedules

LONGEST_PAUSE = 300.0  # seconds between attempts at a target that fails
MAX_STEPS = 1_000  # of a plan that is kept for people to read
MAX_CHANGE = 10_000  # characters of a step in it
MAX_ERROR = 1_000

_log = structlog.get_logger()


class Enforcing:
    """The task's function and what it needs."""

    def __init__(self, settings: Settings, registry: CollectorRegistry) -> None:
        self._settings = settings
        self._every = timedelta(seconds=settings.enforcement.refresh_seconds)
        self._metrics = EnforcementMetrics(registry)

    def run(self, connection: Connection[Any], job: Job) -> None:
        """Raises Taken if another run made up for this one, and what Lily's own store raises."""
        ledger, key = TargetLedger(connection, job.tenant), str(job.arguments["target"])
        target = ledger.find(key)
        if target is None:
            return
        if request := job.arguments.get("plan"):
            ledger.keep_plan(key, self._plan(connection, job, target, str(request)))
            return
        if target.is_stopped and not target.is_removed:
            return
        began, started = ledger.take(job, key), time.monotonic()
        Schedules(connection).register(Schedule(group_of(key), TASK, self._every, {"target": key}, job.tenant))
        try:
            if target.is_removed and target.is_stopped:
                self._forget(ledger, job.tenant, target)
            elif target.is_removed:
                self._remove(ledger, job.tenant, target)
            else:
                self._enforce(connection, job, target, began)
        except TargetGone as error:
            ledger.stop(job, key)
            self._failed(connection, job, target, began, str(error))
        except LilyError as error:
            self._failed(connection, job, target, began, str(error))
            self._retry(connection, job, target)
        self._metrics.seconds.observe(time.monotonic() - started)

    def _enforce(self, connection: Connection[Any], job: Job, target: StoredTarget, began: datetime) -> None:
        ledger = TargetLedger(connection, job.tenant)
        with closing(self._made(job.tenant, target)) as enforcer:
            inventory = called(enforcer.inventory)
            decided = enforced(connection, job.tenant, target, inventory)
            ledger.keep_assets(target.key, decided.asset_ids)
            ledger.request(target.key, decided.receipts, min(job.enqueued_at, began))
            if inventory is None:
                outcome = send_changes(enforcer, decided, ledger, target.key)
            else:
                outcome = bring_in_line(enforcer, decided, ledger.confirmed_digests(target.key))
        if outcome is None:
            enqueue(connection, job.tenant, NewJob(TASK, {"target": target.key}, group_of(target.key)))
        else:
            self._record(connection, job, target, began, decided, outcome)

    def _record(  # noqa: PLR0917 - what a run is
        self,
        connection: Connection[Any],
        job: Job,
        target: StoredTarget,
        began: datetime,
        decided: Enforced,
        outcome: Outcome,
    ) -> None:
        ledger, failed = TargetLedger(connection, job.tenant), {one.table: one.error for one in outcome.failures}
        if outcome.waits:
            findings = _shown((*decided.findings, *(outcome.findings or ())))
            ledger.wait(target.key, tables=decided.tables, columns=decided.columns, findings=findings)
            self._metrics.runs.labels("waiting").inc()
            return
        ledger.report_drift(target.key, [Drifted(*one) for one in outcome.drift])
        ledger.confirm(target.key, decided.digests, failed)
        self._count(job, target, outcome)
        if failed:
            first = next(iter(failed.items()))
            several = "1 table" if len(failed) == 1 else f"{len(failed):,} tables"
            error = f"{several} could not be changed, the first is {'.'.join(first[0])}: {first[1]}"
        ledger.finish(
            target.key,
            began,
            steps=outcome.steps,
            drifted=len(outcome.drift),
            error=error[:MAX_ERROR] if failed else None,
            tables=decided.tables,
            columns=decided.columns,
            findings=_shown((*decided.findings, *outcome.findings)) if outcome.findings is not None else None,
        )
        if failed:
            self._retry(connection, job, target)

    def _count(self, job: Job, target: StoredTarget, outcome: Outcome) -> None:
        metrics = self._metrics
        metrics.steps.inc(outcome.steps)
        metrics.drift.inc(len(outcome.drift))
        metrics.failures.inc(len(outcome.failures))
        metrics.runs.labels("failed" if outcome.failures else "applied" if outcome.steps else "unchanged").inc()
        if outcome.steps and not outcome.failures:
            metrics.lag.observe(max(0.0, (datetime.now(UTC) - job.enqueued_at).total_seconds()))
        for one in outcome.drift:
            place = {"tenant": job.tenant, "target": target.name, "table": ".".join(one.table)}
            _log.warning("target changed by hand", found=one.found, expected=one.expected, **place)
        for failure in outcome.failures:
            place = {"tenant": job.tenant, "target": target.name, "table": ".".join(failure.table)}
            _log.error("table not enforced", error=failure.error[:500], **place)

    def _remove(self, ledger: TargetLedger, tenant: str, target: StoredTarget) -> None:
        with closing(self._made(tenant, target)) as enforcer, suppress(TargetGone):  # what is gone enforces nothing
            called(enforcer.remove)
        self._forget(ledger, tenant, target)

    def _forget(self, ledger: TargetLedger, tenant: str, target: StoredTarget) -> None:
        ledger.delete(target.key)
        self._metrics.runs.labels("removed").inc()
        _log.info("target removed", tenant=tenant, target=target.name)

    def _failed(self, connection: Connection[Any], job: Job, target: StoredTarget, began: datetime, error: str) -> None:
        _log.warning("target not enforced", tenant=job.tenant, target=target.name, error=error[:500])
        self._metrics.runs.labels("failed").inc()
        TargetLedger(connection, job.tenant).finish(target.key, began, error=error[:MAX_ERROR])

    def _retry(self, connection: Connection[Any], job: Job, target: StoredTarget) -> None:
        pause = min(LONGEST_PAUSE, 2.0 ** min(target.failures, 20))
        run_at = datetime.now(UTC) + timedelta(seconds=pause)
        enqueue(connection, job.tenant, NewJob(TASK, {"target": target.key}, group_of(target.key), run_at))

    def _plan(self, connection: Connection[Any], job: Job, target: StoredTarget, request: str) -> dict[str, Any]:
        """What a run would change, or why that is not known. Changes nothing. With a digest, confirms that the script
        was run which has it."""
        ledger = TargetLedger(connection, job.tenant)
        stored, began = ledger.written(target.key), ledger.now()
        planned: dict[str, Any] = {"request": request, "planned_at": clock.stamp(datetime.now(UTC))}
        if stored is not None:
            planned["written"] = stored
        try:
            with closing(self._made(job.tenant, target)) as enforcer:
                inventory = called(enforcer.inventory)
                decided = enforced(connection, job.tenant, target, inventory)
                if kind := job.arguments.get("script"):
                    requests = ScriptRequests(ledger, target, enforcer, decided, began)
                    digest = job.arguments.get("digest")
                    plan, kept = requests.hand_out(kind) if digest is None else requests.confirm(digest)
                    return planned | _planned(decided, plan) | kept
                decisions = decided.decisions
                if inventory is None:
                    sent = ledger.sent(target.key)
                    decisions = changed_decisions(decided, unconfirmed(decided.digests, sent), sent)
                plan = called(lambda: enforcer.plan(decisions))
        except LilyError as error:
            return planned | {"count": 0, "steps": [], "findings": [], "error": str(error)[:MAX_ERROR]}
        return planned | _planned(decided, plan)

    def _made(self, tenant: str, target: StoredTarget) -> Enforcer:
        """Raises Terminal if the configuration cannot be decrypted, or if the plug-in is not installed here."""
        config = Vault.of(self._settings.master_key_file).open(
            tenant, group_of(target.key), target.wrapped_key, target.sealed
        )
        enforcer = installed().make(ENFORCERS, target.type, orjson.loads(config))
        place = surroundings_of(self._settings, tenant, target.key, target.created_at)
        return called(lambda: situated(enforcer, place))


def _planned(decided: Enforced, plan: Plan) -> dict[str, Any]:
    steps = [{"table": ".".join(step.table), "change": step.change[:MAX_CHANGE]} for step in plan.steps[:MAX_STEPS]]
    findings = _shown((*decided.findings, *plan.findings))
    return {"count": len(plan.steps), "steps": steps, "findings": findings, "error": None}


def _shown(findings: Iterable[Finding]) -> list[Mapping[str, str]]:
    return [finding._asdict() for finding in findings]
