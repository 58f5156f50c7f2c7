"""Builds the API and serves it."""

import gc

from lily.api.application import Application
from lily.api.http.server.listening import CannotServe, listen
from lily.api.routes import notifications
from lily.api.routes.access import disabled_users, engine_mappings, policies, roles, scraper_policies, users
from lily.api.routes.assets import attributes, bulk, facets, history, ingest, metadata, search, tags
from lily.api.routes.documents import docs, home, schemas
from lily.api.routes.enforcement import iceberg, opa, ranger, receipts, scripts, targets
from lily.api.routes.governance import attribute_rules, dry_run, propagations, protections, settings, tag_definitions
from lily.api.routes.incidents import at_risk, incidents, webhook_mappings, webhook_secrets, webhooks
from lily.api.routes.lineage import graph, jobs, openlineage, sql
from lily.api.routes.notify import channels, mentions, mutes, panel, subscriptions
from lily.api.routes.notify import explain as explain_subscription
from lily.api.routes.operations import audit, dead_letters, health, metrics
from lily.api.routes.policy import check, decision_log, explain
from lily.api.routes.policy import dry_run as policy_dry_run
from lily.api.routes.quality import policies as quality_policies
from lily.api.routes.quality import usage
from lily.api.routes.refreshes import runs as refresh_runs
from lily.api.routes.refreshes import schedules as refresh_schedules
from lily.api.workers import WorkerGroup, worker_settings
from lily.observe import logs, traces
from lily.settings import Settings

PART = "api"

# The first match wins, and `/metadata/{id}` matches anything after the slash: more specific paths come before it. The
# first are also found fastest: engines call `/enforce/opa` before every query, and jobs report every run.
ROUTERS = (
    opa.router,
    webhooks.router,
    ingest.router,
    openlineage.router,
    bulk.router,
    search.router,
    history.router,
    usage.router,
    tags.router,
    attributes.router,
    facets.router,
    incidents.router,
    webhook_secrets.router,
    webhook_mappings.router,
    metadata.router,
    propagations.router,
    dry_run.router,
    protections.router,
    tag_definitions.router,
    attribute_rules.router,
    settings.router,
    quality_policies.router,
    policies.router,
    roles.router,
    disabled_users.router,
    users.router,
    scraper_policies.router,
    engine_mappings.router,
    check.router,
    explain.router,
    policy_dry_run.router,
    decision_log.router,
    scripts.router,
    targets.router,
    receipts.router,
    iceberg.router,
    ranger.router,
    jobs.router,
    sql.router,
    graph.router,
    at_risk.router,
    refresh_schedules.router,
    refresh_runs.router,
    dead_letters.router,
    audit.router,
    channels.router,
    explain_subscription.router,
    subscriptions.router,
    mentions.router,
    mutes.router,
    panel.router,
    notifications.router,
    health.router,
    metrics.router,
    schemas.router,
    docs.router,
    home.router,
)


def build(settings: Settings, group: WorkerGroup | None = None) -> Application:
    """The application of a single process or of one worker of a group. It opens nothing before it starts, so its
    OpenAPI document needs no database."""
    app = Application(settings, group)
    for router in ROUTERS:
        app.include_router(router)
    return app


def serve(settings: Settings) -> None:
    """Serves from this process until SIGTERM or SIGINT, then lets running requests finish. Raises the error that
    kept it from starting."""
    app = build(settings)
    _tune_garbage_collection()
    try:
        listen(app, settings)
    except CannotServe:
        if app.failure is not None:
            raise app.failure from None
        raise


def worker() -> Application:
    """The application of one of several workers; uvicorn calls this in each of them."""
    settings = worker_settings()
    logs.configure(PART, settings.log_level)
    traces.configure(PART, settings.otlp_endpoint)
    app = build(settings, WorkerGroup.joined())
    _tune_garbage_collection()
    return app


def _tune_garbage_collection() -> None:
    gc.freeze()  # objects made at the start stay; scanning them in each collection took 3 % of the time
    gc.set_threshold(20_000, 20, 50)
