"""Runs one reaction in this process: leases partitions, reads them, and handles what it read tenant by tenant.

A turn is what was read at once. Each tenant of a turn has a transaction of its own, which records that the tenant is
done; the last one also moves the offsets. So a tenant's failure does not roll back another's work, and a crash between
two tenants repeats nothing.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

import psycopg
import structlog
from confluent_kafka import KafkaException
from psycopg import Connection, IsolationLevel

from lily.bus.partition_reader import PartitionReader
from lily.model.errors import Problem, Terminal, Transient
from lily.model.records import Partition
from lily.observe.traces import tracer
from lily.reactions.base import Event, Reaction
from lily.reactions.failures import is_of_the_work, shown_cause
from lily.reactions.leases import Leases
from lily.reactions.metrics import ReactionMetrics
from lily.reactions.pace import Pace
from lily.settings import Settings
from lily.store.postgres.connection import connect
from lily.store.postgres.progress.positions import raise_positions
from lily.store.postgres.reactions.ledger import FailedEvent, ReactionLedger
from lily.store.postgres.tenant_lock import tenant_lock, try_tenant_lock

BALANCE_SECONDS = 1.0  # how often leases are looked at: a killed worker's partitions are taken over after that
IDLE_SECONDS = 0.5  # how long to wait for the first event of a turn
ATTEMPTS = 5  # at a transaction that loses to a concurrent one
PAUSES = (1, 2, 5, 15, 60, 300)  # seconds between attempts of a tenant whose events fail with Transient
LOSSES = 3  # of the connection, in a row, while a tenant's events are handled: then they are parked
RESTART_SECONDS = (0.5, 1, 2, 5, 10)

_log = structlog.get_logger()
Result = TypeVar("Result")


class ReactionRunner:
    """A resident of the worker. It reconnects by itself; other reactions do not notice."""

    def __init__(self, settings: Settings, reaction: Reaction, stop: threading.Event, metrics: ReactionMetrics) -> None:
        self._settings, self._reaction, self._stop, self._metrics = settings, reaction, stop, metrics
        self.ready = threading.Event()
        self._losses: Counter[str] = Counter()
        metrics.register(reaction.name)

    @property
    def name(self) -> str:
        return self._reaction.name

    def run(self) -> None:
        """Returns when `stop` is set."""
        failures = 0
        while not self._stop.is_set():
            try:
                self._serve()
            except (psycopg.OperationalError, psycopg.InterfaceError, KafkaException, Transient, Terminal) as error:
                healthy, failures = self.ready.is_set(), failures + 1
                self.ready.clear()
                failures = 0 if healthy else failures
                self._metrics.failed(self.name, "retried")
                _log.warning("reaction interrupted, starting again", reaction=self.name, error=str(error)[:500])
                self._stop.wait(RESTART_SECONDS[min(failures, len(RESTART_SECONDS) - 1)])

    def _serve(self) -> None:
        name = self._reaction.name
        with (
            connect(self._settings.database_url, f"lily-{name}") as connection,
            PartitionReader(self._settings.brokers, f"lily-{name}", self._reaction.topics) as reader,
        ):
            raise_positions(connection)
            # A transaction sees one committed state, and loses to a concurrent change of what it has read.
            connection.isolation_level = IsolationLevel.REPEATABLE_READ
            self._reaction.open(connection)
            session = _Session(
                connection, reader, self._reaction, self._settings, self._metrics, Pace(self._stop), self._losses
            )
            session.balance()
            self.ready.set()
            while not self._stop.is_set():
                session.step()


class _Session:
    """One connection's work, from its leases to its loss."""

    def __init__(  # noqa: PLR0917 - what a session is
        self,
        connection: Connection[Any],
        reader: PartitionReader,
        reaction: Reaction,
        settings: Settings,
        metrics: ReactionMetrics,
        pace: Pace,
        losses: Counter[str],
    ) -> None:
        self._connection, self._reader, self._reaction, self._metrics = connection, reader, reaction, metrics
        self._pace = pace
        self._losses = losses  # by tenant, of the connection; outlives it
        self._limits = settings.reactions
        self._leases = Leases(connection, reaction.name)
        self._ledger = ReactionLedger(connection, reaction.name)
        self._committed: dict[tuple[str, int, str], int] = {}
        self._balanced = 0.0
        self._draining = False  # the last step found parked events, and there may be more
        self._is_behind = False  # the last turn was as large as a turn may be

    def step(self) -> None:
        """One turn of what the log has, and one of a tenant with parked events."""
        if time.monotonic() - self._balanced > BALANCE_SECONDS:
            self.balance()
        if not self._draining and not self._is_behind:
            self._pace.rest()
        events = self._reader.read(self._limits.batch_events, 0.0 if self._draining else IDLE_SECONDS)
        self._is_behind = len(events) >= self._limits.batch_events
        if events:
            self._pace.begun()
            self._turn([Event(*row) for row in events])
        self._draining = self._drain()

    def balance(self) -> None:
        """Takes or gives back partitions. Those that are new are read from where the reaction stopped."""
        if self._leases.balance(self._reader.partitions()):
            held = self._leases.held
            self._reader.assign(held, self._ledger.offsets(self._reaction.topics))
            self._committed = self._ledger.committed_tenants()
            _log.info("partitions leased", reaction=self._reaction.name, partitions=[f"{t}/{p}" for t, p in held])
        name = self._reaction.name
        self._metrics.partitions.labels(name).set(len(self._leases.held))
        self._metrics.lag.labels(name).set(self._reader.lag())
        self._metrics.parked.labels(name).set(self._ledger.parked_events())
        self._balanced = time.monotonic()

    def _turn(self, events: Sequence[Event]) -> None:
        began = time.monotonic()
        tenants: dict[str, list[Event]] = {}
        ends = dict[Partition, int]()
        for event in events:
            tenants.setdefault(event.tenant, []).append(event)
            ends[event.topic, event.partition] = event.offset + 1
        # The smallest first: what it takes to handle one tenant is what the next has to wait.
        *others, last = sorted(tenants, key=lambda tenant: len(tenants[tenant]))
        with tracer.start_as_current_span(f"{self._reaction.name}.turn"):
            for tenant in others:
                self._handle(tenant, tenants[tenant], partial(self._ledger.commit_tenant, tenant, ends))
            self._handle(last, tenants[last], partial(self._ledger.advance, ends))
        self._committed = {key: offset for key, offset in self._committed.items() if key[:2] not in ends}
        self._metrics.handled(self._reaction.name, len(events), time.monotonic() - began)

    def _handle(self, tenant: str, events: Sequence[Event], progress: Callable[[], None]) -> None:
        """Handles or parks a tenant's events, and records the progress with it."""
        events = [event for event in events if event.offset >= self._committed.get((*event[:2], tenant), 0)]
        with tenant_lock(self._connection, self._reaction.name, tenant):
            if self._losses[tenant] >= LOSSES:
                self._repeated(partial(self._postpone, tenant, events, self._lost(tenant), progress))
                return
            try:
                with self._watched(tenant):
                    self._repeated(partial(self._handle_or_park, tenant, events, progress))
            except Transient as error:
                self._repeated(partial(self._postpone, tenant, events, error, progress))

    @contextmanager
    def _watched(self, tenant: str) -> Iterator[None]:
        """Raises Transient if the server refuses the tenant's work. Counts the losses of the connection meanwhile: a
        run that ends the server's process must not end the connection of all tenants again and again."""
        self._losses[tenant] += 1
        try:
            yield
        except psycopg.OperationalError as error:
            if not is_of_the_work(error, self._connection):
                raise
            del self._losses[tenant]
            raise Transient(f"PostgreSQL refused it: {type(error).__name__}: {str(error).splitlines()[0]}") from error
        except Transient:
            del self._losses[tenant]
            raise
        del self._losses[tenant]

    def _lost(self, tenant: str) -> Transient:
        return Transient(
            f"The connection to PostgreSQL was lost {self._losses[tenant]} times while handling its events."
        )

    def _handle_or_park(self, tenant: str, events: Sequence[Event], progress: Callable[[], None]) -> None:
        most = 0 if self._ledger.is_parked(tenant) else self._limits.tenant_events
        if events[:most] and self._apply(tenant, events[:most]):
            self._ledger.park(tenant, events)
            self._ledger.leave_unfinished(tenant, len(events[:most]))
        elif events[most:]:
            self._ledger.park(tenant, events[most:])
        progress()

    def _postpone(self, tenant: str, events: Sequence[Event], error: Transient, progress: Callable[[], None]) -> None:
        self._ledger.park(tenant, events)
        self._ledger.postpone(tenant, PAUSES, str(error))
        progress()
        self._metrics.failed(self._reaction.name, "parked")
        _log.warning("tenant's events parked", reaction=self._reaction.name, tenant=tenant, error=str(error)[:500])

    def _drain(self) -> bool:
        """Handles the next parked events of one tenant; returns whether there were any."""
        for tenant in self._ledger.due_tenants(limit=4):
            with try_tenant_lock(self._connection, self._reaction.name, tenant) as mine:
                if mine and self._drain_tenant(tenant):
                    return True
        return False

    def _drain_tenant(self, tenant: str) -> bool:
        began = time.monotonic()
        if self._losses[tenant] >= LOSSES:  # recorded first: if it happens again, nothing can be recorded afterwards
            self._repeated(partial(self._ledger.postpone, tenant, PAUSES, str(self._lost(tenant))))
        try:
            with self._watched(tenant):
                handled = self._repeated(partial(self._handle_parked, tenant))
        except Transient as error:
            self._repeated(partial(self._ledger.postpone, tenant, PAUSES, str(error)))
            self._metrics.failed(self._reaction.name, "parked")
            return False
        self._metrics.handled(self._reaction.name, handled, time.monotonic() - began)
        return True

    def _handle_parked(self, tenant: str) -> int:
        parked = self._ledger.parked(tenant, self._limits.tenant_events)
        if parked and self._apply(tenant, [Event(*row[1:]) for row in parked]):
            self._ledger.leave_unfinished(tenant, len(parked))
            return 0
        self._ledger.unpark(tenant, parked[-1].id if parked else 0)
        return len(parked)

    def _apply(self, tenant: str, events: Sequence[Event]) -> bool:
        """Returns whether the reaction has to go on with these events."""
        unfinished = False

        def handle_once(tenant: str, events: Sequence[Event]) -> None:
            nonlocal unfinished
            unfinished = bool(self._reaction.handle(tenant, events))

        failures = self._failures(tenant, events, handle_once)
        self._ledger.dead_letter(tenant, failures)
        self._metrics.failed(self._reaction.name, "dead_letter", len(failures))
        return unfinished

    def _handle_all(self, tenant: str, events: Sequence[Event]) -> None:
        while self._reaction.handle(tenant, events):
            pass

    def _failures(
        self, tenant: str, events: Sequence[Event], handle: Callable[[str, Sequence[Event]], None]
    ) -> list[FailedEvent]:
        """Handles events, and halves what fails until the poisonous event is alone. Halves are handled to their end."""
        try:
            with self._connection.transaction():
                handle(tenant, events)
        except (Transient, psycopg.OperationalError, psycopg.InterfaceError):
            raise
        except Exception as error:  # noqa: BLE001 - whatever an event breaks, it must not hold up the others
            if len(events) == 1:
                return [FailedEvent(events[0], self._problem(tenant, error))]
        else:
            return []
        middle = len(events) // 2
        halves = (events[:middle], events[middle:])
        return [failed for half in halves for failed in self._failures(tenant, half, self._handle_all)]

    def _problem(self, tenant: str, error: Exception) -> Problem:
        name, (cause, correlation) = self._reaction.name, shown_cause(error)
        _log.error(
            "event dead-lettered", reaction=name, tenant=tenant, error=repr(error)[:500], correlation=correlation
        )
        return Problem("REACTION_FAILED", f"{name}: {cause}", name)

    def _repeated(self, work: Callable[[], Result]) -> Result:
        """Runs work in a transaction; again if it loses to a concurrent one."""
        for _ in range(ATTEMPTS - 1):
            try:
                with self._connection.transaction():
                    return work()
            except (psycopg.errors.SerializationFailure, psycopg.errors.DeadlockDetected):
                self._metrics.failed(self._reaction.name, "retried")
        with self._connection.transaction():
            return work()
