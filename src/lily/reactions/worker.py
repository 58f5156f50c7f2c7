"""The worker: runs its residents side by side, each in a thread, and reports whether they work."""

import gc
import threading
from collections.abc import Collection
from typing import Protocol

import structlog
from prometheus_client import CollectorRegistry

from lily.model.errors import Terminal
from lily.observe.probes import serve_probes
from lily.reactions.feed import Feed
from lily.reactions.jobs import Jobs
from lily.reactions.metrics import ReactionMetrics
from lily.reactions.propagation import Propagation
from lily.reactions.relay import Relay
from lily.reactions.runner import ReactionRunner
from lily.settings import Settings

RESIDENTS = ("relay", "propagation", "feed", "jobs")
STOP_SECONDS = 30.0

_log = structlog.get_logger()


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
        self.registry = CollectorRegistry()
        metrics = ReactionMetrics(self.registry)
        residents: list[Resident] = [
            Relay(settings, stop, self.registry),
            ReactionRunner(settings, Propagation(self.registry), stop, metrics),
            ReactionRunner(settings, Feed(), stop, metrics),
            Jobs(settings, stop, self.registry),
        ]
        self._residents = [resident for resident in residents if resident.name in only]
        self._failure: BaseException | None = None

    def run(self) -> None:
        """Raises what ended a resident."""
        gc.freeze()
        gc.set_threshold(100_000, 20, 100)  # a batch is tens of thousands of objects, and none of them a cycle
        if self._settings.metrics_port:
            serve_probes(self._settings.host, self._settings.metrics_port, self.registry, self._is_ready)
        threads = [
            threading.Thread(target=self._run, args=[resident], name=resident.name, daemon=True)
            for resident in self._residents
        ]
        for thread in threads:
            thread.start()
        self._stop.wait()
        for thread in threads:
            thread.join(STOP_SECONDS)
        if self._failure is not None:
            raise self._failure

    def _run(self, resident: Resident) -> None:
        try:
            resident.run()
        except BaseException as error:
            _log.exception("resident failed", resident=resident.name)
            self._failure = error
            raise
        finally:
            self._stop.set()

    def _is_ready(self) -> bool:
        return all(resident.ready.is_set() for resident in self._residents)
