"""Everything that a process of the API holds open: connections, caches and background tasks."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

import structlog

from lily.api import background
from lily.api.auth.principals import Principals
from lily.api.auth.refusals import Refusals
from lily.api.auth.sign_in import signing_in
from lily.api.auth.strangers import Strangers
from lily.api.auth.token_uses import TokenUses
from lily.api.enforcement.answers import AnswerCache
from lily.api.enforcement.ranger import RangerDocuments
from lily.api.http.server.tls import identity
from lily.api.ingest.bulk.capacity import BulkCapacity
from lily.api.ingest.sql_analyzer import SqlAnalyzer
from lily.api.metrics import ApiMetrics
from lily.api.policy.cache import PolicyCache
from lily.api.policy.decision_log import DecisionLog
from lily.api.policy.fact_cache import FactCache
from lily.api.quotas.quotas import Quotas
from lily.api.receipts.progress import StoredProgress
from lily.api.receipts.waiter import Waiter
from lily.api.webhooks.receiving import Webhooks
from lily.api.webhooks.secrets import WebhookSecrets
from lily.api.websocket.hub import Hub
from lily.bus.authority import SigningKeys
from lily.bus.offsets import LogEnds
from lily.bus.producer import LogProducer
from lily.model.quotas import TenantLimits
from lily.plugins import FORMATS, INTAKES, installed
from lily.settings import Settings
from lily.store.catalogue import Catalogue
from lily.store.lake.data_files import io_properties
from lily.store.lake.reader import LakeReader
from lily.store.listing import Lister
from lily.store.postgres import listener
from lily.store.postgres.access.quotas import tenant_limits
from lily.store.postgres.access.secrets import read_master_keys
from lily.store.postgres.catalogue.reader import AssetReader
from lily.store.postgres.definitions.tags import TagRulesCache
from lily.store.postgres.lake.snapshot import current_snapshot
from lily.store.postgres.sessions import Database

GAUGE_SECONDS = 5.0

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Services:
    settings: Settings
    metrics: ApiMetrics
    database: Database
    tag_rules: TagRulesCache
    reader: AssetReader
    lake: LakeReader
    catalogue: Catalogue
    lister: Lister
    log: LogProducer
    ends: LogEnds
    principals: Principals
    waiter: Waiter
    hub: Hub
    sql_analyzer: SqlAnalyzer
    policies: PolicyCache
    facts: FactCache
    answers: AnswerCache
    ranger: RangerDocuments
    decision_log: DecisionLog
    refusals: Refusals
    quotas: Quotas
    strangers: Strangers
    token_uses: TokenUses
    bulk: BulkCapacity
    signing_keys: SigningKeys
    webhooks: Webhooks

    def notified(self, channel: str, payload: str) -> None:
        """A notification of PostgreSQL."""
        if channel == listener.APPLIED:
            self.waiter.applied_notified()
        elif channel == listener.PUBLISHED:
            self.waiter.published_notified()
        elif channel == listener.ACCESS:
            self.principals.invalidate()
            self.quotas.invalidate()
        elif channel == listener.TAGS:
            self.tag_rules.invalidate(payload)
        elif channel == listener.POLICIES:
            self.policies.changed(payload)
            self.tag_rules.invalidate(payload)  # a policy makes the tags that it names protective
        elif channel == listener.WEBHOOKS:
            self.webhooks.secrets.invalidate(payload)
        elif channel == listener.CONFIRMED:
            self.policies.confirmed(float(payload))
        elif channel == listener.LOST:
            self.policies.lost()


@asynccontextmanager
async def opened(settings: Settings, metrics: ApiMetrics) -> AsyncIterator[Services]:
    """Raises Terminal if the database role has more privileges than it should, StoreUnavailable if PostgreSQL does
    not respond."""
    _log_unused_plugins()
    if (served := identity(settings.tls)) is not None:
        metrics.certificate_expiry.set(served.expires.timestamp())
    async with AsyncExitStack() as stack:
        database = Database(settings.database_url)
        stack.push_async_callback(database.close)
        await database.open()
        await database.fetch(None, "select raise_positions()", {})  # decisions of administrators have positions too
        log = LogProducer(settings.brokers)
        stack.push_async_callback(log.close)
        ends = LogEnds(settings.brokers)
        stack.push_async_callback(ends.close)
        tag_rules = TagRulesCache(database)
        reader = AssetReader(database, tag_rules)
        lake = LakeReader(lambda: current_snapshot(database), io_properties(settings.s3), metrics.lake_read)
        stack.callback(lake.close)
        catalogue = Catalogue(reader, lake)
        policies = PolicyCache(database, metrics.policy)
        strangers = Strangers(
            settings.limits.failures_per_second, lambda: policies.is_trusted, metrics.failed_authentications
        )
        token_uses, quotas = TokenUses(database), _quotas(settings, database, metrics)
        services = Services(
            settings=settings,
            metrics=metrics,
            database=database,
            principals=await stack.enter_async_context(
                signing_in(
                    settings.oidc,
                    database,
                    metrics,
                    uses=token_uses,
                    strangers=strangers,
                    would_be_notified=lambda: policies.is_trusted,
                )
            ),
            tag_rules=tag_rules,
            reader=reader,
            lake=lake,
            lister=Lister(database, reader, lake, catalogue, settings.lake.search_seconds),
            catalogue=catalogue,
            log=log,
            waiter=Waiter(StoredProgress(database)),
            ends=ends,
            hub=Hub(settings.brokers, metrics.connections, settings.limits.replays),
            sql_analyzer=SqlAnalyzer(),
            policies=policies,
            facts=FactCache(database),
            answers=AnswerCache(),
            ranger=RangerDocuments(database, policies, metrics),
            decision_log=DecisionLog(database, metrics.policy),
            refusals=Refusals(database),
            quotas=quotas,
            strangers=strangers,
            token_uses=token_uses,
            bulk=BulkCapacity(settings.limits.bulk_bodies),
            signing_keys=SigningKeys(settings.master_key_file, read_master_keys),
            webhooks=Webhooks(WebhookSecrets(database, settings.master_key_file), log, metrics, quotas, strangers),
        )
        stack.callback(services.bulk.close)
        stack.push_async_callback(services.refusals.close)
        stack.push_async_callback(token_uses.write)
        stack.push_async_callback(services.quotas.close)
        stack.push_async_callback(services.hub.close)
        stack.push_async_callback(services.sql_analyzer.close)
        for task in (
            services.waiter.run(),
            listener.listen(settings.database_url, services.notified),
            services.decision_log.run(),
            services.refusals.run(),
            token_uses.run(),
            services.quotas.run(),
            _count_unconfirmed(services),
        ):
            running = asyncio.create_task(task)
            running.add_done_callback(_log_end)
            stack.push_async_callback(background.end, running)
        yield services


def _quotas(settings: Settings, database: Database, metrics: ApiMetrics) -> Quotas:
    stated, connections = settings.quotas, settings.limits.connections
    rates = stated.requests_per_second, stated.decisions_per_second, stated.events_per_second, stated.bytes_per_second
    defaults = TenantLimits(*rates, connections)
    return Quotas(defaults, stated.burst_seconds, partial(tenant_limits, database), metrics.quota_refusals)


async def _count_unconfirmed(services: Services) -> NoReturn:
    """Every worker sets its own value, because the worker that serves `/metrics` cannot see those of the others."""
    while True:
        services.metrics.unconfirmed.set(len(services.log))
        services.metrics.policy.unconfirmed.set(services.policies.unconfirmed_seconds)
        await asyncio.sleep(GAUGE_SECONDS)


def _log_unused_plugins() -> None:
    """Loads the plug-ins before the first request needs one, and logs which are not used and why."""
    for plugin in installed().left_out(FORMATS, INTAKES):
        log.warning("plugin.left_out", **plugin.as_dict())


def _log_end(task: "asyncio.Task[None]") -> None:
    """Background tasks run until they are cancelled. It is an error if one ends otherwise."""
    if not task.cancelled():
        log.error("background.ended", task=task.get_name(), error=repr(task.exception()))
