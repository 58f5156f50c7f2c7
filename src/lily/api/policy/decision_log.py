"""Writes the log of decisions in the background: deciding never waits for it. What it has no room for is counted."""

import asyncio
import random
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import structlog

from lily.api.metrics import PolicyMetrics
from lily.api.policy.checks import Batch
from lily.api.policy.compiled import TenantPolicies
from lily.model import clock, ids
from lily.model.errors import LilyError
from lily.policy import Action, Decision, Plane
from lily.store.postgres.policies.decision_log import insert_decisions
from lily.store.postgres.sessions import Database

ROOM = 50_000  # decisions that wait to be written
ROWS_PER_WRITE = 2_000
PAUSE_SECONDS = 0.5

log = structlog.get_logger()


class Decided(NamedTuple):
    """A decision, and what it is about."""

    principal: str
    action: Action
    plane: Plane
    asset: str  # an id or a qualified name
    decision: Decision


def decided_checks(batch: Batch, decisions: Sequence[Decision]) -> Iterator[Decided]:
    for check, decision in zip(batch.checks, decisions, strict=True):
        named = batch.principals[check.principal]
        principal = named.user or ",".join((*named.groups, *named.roles))
        yield Decided(principal, check.action, check.plane, check.asset, decision)


class DecisionLog:
    """A bounded queue. If PostgreSQL does not respond, what it cannot write is dropped and counted."""

    def __init__(self, database: Database, metrics: PolicyMetrics) -> None:
        self._database, self._metrics = database, metrics
        self._waiting: deque[tuple[str, dict[str, Any]]] = deque()

    def record(self, policies: TenantPolicies, by: str, decided: Iterable[Decided], *, denials: bool = False) -> None:
        """Queues those of the decisions that the tenant's settings choose; with `denials`, every denial unless the log
        is off. If it is off, `decided` is not even iterated."""
        share = policies.settings.logged_share
        if not share:
            return
        at = clock.now()
        for one in decided:
            is_certain = share >= 1 or (denials and not one.decision.allowed)
            if not is_certain and random.random() >= share:  # noqa: S311 - a sample, not a secret
                continue
            if len(self._waiting) >= ROOM:
                self._metrics.dropped.inc()
                continue
            row = {
                "id": ids.event_id(),
                "at": at,
                "by": by,
                "principal": one.principal,
                "action": one.action,
                "plane": one.plane,
                "asset_id": ids.resolve(policies.tenant, one.asset),
                "effect": one.decision.effect,
                "policy_id": one.decision.policy_id,
                "reason": one.decision.reason,
                "version": policies.version.number,
            }
            self._waiting.append((policies.tenant, row))

    async def run(self) -> NoReturn:
        while True:
            await asyncio.sleep(PAUSE_SECONDS)
            while self._waiting:
                await self._write()

    async def _write(self) -> None:
        by_tenant: dict[str, list[dict[str, Any]]] = {}
        for _ in range(min(ROWS_PER_WRITE, len(self._waiting))):
            tenant, row = self._waiting.popleft()
            by_tenant.setdefault(tenant, []).append(row)
        for tenant, rows in by_tenant.items():
            try:
                await insert_decisions(self._database, tenant, rows)
                self._metrics.logged.inc(len(rows))
            except LilyError as error:
                self._metrics.dropped.inc(len(rows))
                log.warning("decision_log.dropped", rows=len(rows), reason=str(error))
