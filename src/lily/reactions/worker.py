"""The worker: runs its residents side by side, each in a thread, and reports whether they work."""

import gc
import threading
from collections.abc import Callable, Collection
from typing import Protocol

from prometheus_client import CollectorRegistry

from lily.bus.authority import SigningKeys
from lily.intake.openlineage import Naming
from lily.model.errors import Terminal
from lily.observe.probes import serve_probes
from lily.reactions import quality
from lily.reactions.at_risk import AtRisk
from lily.reactions.enforcement import Enforcing, enforcement_reaction
from lily.reactions.event_loop import EventLoop
from lily.reactions.feed import Feed
from lily.reactions.incidents import Incidents, look_for_names
from lily.reactions.jobs import Jobs, Task
from lily.reactions.jobs.housekeeping import housekeeping
from lily.reactions.jobs.refresher import refresher
from lily.reactions.metrics import ReactionMetrics
from lily.reactions.notifications import Delivering, Notifications, TestingChannels
from lily.reactions.notifications.channels import ChannelPool
from lily.reactions.notifications.planning import TASK as DELIVER
from lily.reactions.propagation import Propagation
from lily.reactions.relay import Relay
from lily.reactions.run_queries import Analyzers, AnalyzingQueries, ColumnSource, LogAppender
from lily.reactions.runner import ReactionRunner
from lily.reactions.table_changes import ChangingTables
from lily.reactions.threads import ThreadGroup
from lily.settings import Settings
from lily.store.postgres.access.secrets import read_master_keys
from lily.store.postgres.enforcement import targets as enforcement
from lily.store.postgres.incidents import names as incidents
from lily.store.postgres.quality.policies import TASK as JUDGE
from lily.store.postgres.run_queries.queueing import TASK as ANALYZE
from lily.store.postgres.subscriptions.administration import TEST_TASK
from lily.store.postgres.table_changes.queueing import TASK as CHANGE_TABLES

RESIDENTS = ("relay", "propagation", "feed", "enforcement", "quality", "incidents", "at_risk", "notifications", "jobs")
STOP_SECONDS = 30.0


class Resident(Protocol):
    """Something that runs in the worker for as long as it lives. It handles its own failures: what `run` raises ends
    the process, so that its supervisor starts it again."""

    @property
    def name(self) -> str: ...

    @property
    def ready(self) -> threading.Event: ...

    def run(self) -> None:
        """Returns when the worker stops."""


class Worker:
    """Runs the chosen residents until `stop` is set. Several workers may run: they share the partitions of every
    reaction and the groups of jobs, and one of their relays publishes at a time."""

    def __init__(self, settings: Settings, stop: threading.Event, only: Collection[str] = RESIDENTS) -> None:
        if unknown := sorted(set(only) - set(RESIDENTS)):
            raise Terminal(f"Unknown residents: {', '.join(unknown)}. Known: {', '.join(RESIDENTS)}.")
        self._settings, self._stop = settings, stop
        self._loop = EventLoop()
        self._channels = ChannelPool(settings, self._loop)
        self._analyzers = Analyzers(self._loop)
        self.registry = CollectorRegistry()
        metrics = ReactionMetrics(self.registry)
        make: dict[str, Callable[[], Resident]] = {
            "relay": lambda: Relay(settings, stop, self.registry),
            "propagation": lambda: ReactionRunner(settings, Propagation(self.registry), stop, metrics),
            "feed": lambda: ReactionRunner(settings, Feed(), stop, metrics),
            "at_risk": lambda: ReactionRunner(settings, AtRisk(self.registry), stop, metrics),
            "enforcement": lambda: ReactionRunner(settings, enforcement_reaction(), stop, metrics),
            "quality": lambda: ReactionRunner(settings, quality.quality_reaction(), stop, metrics),
            "incidents": lambda: ReactionRunner(settings, Incidents(self.registry), stop, metrics),
            "notifications": lambda: ReactionRunner(settings, Notifications(), stop, metrics),
            "jobs": lambda: Jobs(settings, stop, self.registry, self._tasks()),
        }
        # Only what was chosen: the relay connects to Kafka as soon as it is made.
        self._residents = [make[name]() for name in RESIDENTS if name in only]

    def run(self) -> None:
        """Raises what ended a resident."""
        gc.freeze()
        gc.set_threshold(100_000, 20, 100)  # a batch is tens of thousands of objects, and none of them a cycle
        if self._settings.metrics_port:
            serve_probes(self._settings.host, self._settings.metrics_port, self.registry, self._is_ready)
        threads = ThreadGroup(self._stop)
        for resident in self._residents:
            threads.start(resident.name, resident.run)
        self._stop.wait()
        threads.join(STOP_SECONDS)
        self._analyzers.close()
        self._channels.close()

    def _tasks(self) -> tuple[Task, ...]:
        settings, pool, loop = self._settings, self._channels, self._loop
        keys = SigningKeys(settings.master_key_file, read_master_keys)
        naming, append = Naming(settings.openlineage.namespaces), LogAppender(settings.brokers, loop, keys)
        return (
            *housekeeping(settings.retention, self.registry),
            Task(enforcement.TASK, Enforcing(settings, self.registry).run),
            Task(JUDGE, quality.judge),
            Task(quality.NEW_DAY, quality.queue_due, every=quality.EVERY),
            Task(incidents.TASK, look_for_names),
            Task(DELIVER, Delivering(settings, self.registry, pool, loop).run),
            Task(TEST_TASK, TestingChannels(settings, pool, loop).run),
            Task(CHANGE_TABLES, ChangingTables(self.registry, append, self._lake).run),
            Task(ANALYZE, AnalyzingQueries(naming, self.registry, self._analyzers, append, self._lake).run),
            refresher(self.registry),
        )

    def _lake(self) -> ColumnSource:
        # Imported here, because PyArrow and PyIceberg take more memory than a worker that never reads the lake.
        from lily.reactions.run_queries.lake_columns import LakeColumns  # noqa: PLC0415

        return LakeColumns(self._settings.s3, self._loop)

    def _is_ready(self) -> bool:
        return all(resident.ready.is_set() for resident in self._residents)
