"""Assembles a stack (its parts, ports and passwords) and hands it to the supervisor."""

import os
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from lily.api.http.server.tls import identity
from lily.embedded.accounts import unprivileged_account
from lily.embedded.bootstrap import ensure_master_key, prepare_schema, prepare_topics, url_for_role
from lily.embedded.gate import close_gate, open_gate
from lily.embedded.jars import class_paths, ensure_jars
from lily.embedded.kafka import Kafka
from lily.embedded.kafka.access import ensure_access
from lily.embedded.kafka.users import BROKER, USER_OF, USERS, brokers_of, stack_settings
from lily.embedded.lock import DirectoryLock
from lily.embedded.ports import choose_ports, require_free
from lily.embedded.postgres import Postgres
from lily.embedded.private_files import protect_files
from lily.embedded.probes import http_ready, https_ready, tls_responds
from lily.embedded.services import SERVICES, Service, ServiceEnvironment
from lily.embedded.state import ROLES, StackState, load, new_password
from lily.embedded.supervision.orphans import end_orphans
from lily.embedded.supervision.part import Part
from lily.embedded.supervision.supervisor import Stage, Supervisor
from lily.model.errors import Terminal
from lily.settings import Settings, Tls

ENGINES = ("kafka", "postgres")
PARTS = (*ENGINES, *SERVICES)
ON_JAVA = frozenset({"kafka", "pipeline"})
PORTS = ("kafka", "controller", "postgres", "pipeline", "worker", "grpc")
# Where to reach a server that listens on all addresses.
LOOPBACK_OF = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (not bound here)

OnChange = Callable[[StackState], None]


class UnknownPart(Terminal):
    """A stack has no part with this name."""


class DataDirUnusable(Terminal):
    """The data directory cannot be created or written."""


class Stack:
    """The stack of one data directory, with all parts or some of them."""

    def __init__(self, settings: Settings, parts: Sequence[str] = PARTS) -> None:
        unknown = set(parts) - set(PARTS)
        if unknown:
            raise UnknownPart(f"There is no part {', '.join(sorted(unknown))}. The parts are {', '.join(PARTS)}.")
        self._settings, self._parts = settings, parts
        self._data_dir = settings.data_dir
        self._supervisor: Supervisor | None = None
        self._stop_requested = False
        self._pipeline_umask = -1

    def stop(self) -> None:
        """Requests an orderly stop. Can be called at any time, also from a signal handler."""
        self._stop_requested = True
        if self._supervisor:
            self._supervisor.stop()

    def run(self, on_change: OnChange = lambda _: None) -> None:
        """Runs until `stop` is called. Raises AlreadyRunning if the directory has a supervisor."""
        make_data_dir(self._data_dir)
        with DirectoryLock(self._data_dir) as lock:
            end_orphans(self._data_dir)
            self._pipeline_umask = protect_files(self._settings)
            state = self._initial_state(load(self._data_dir))
            self._supervisor = Supervisor(state, lock, self._stages(state), on_change)
            if not self._stop_requested:
                self._supervisor.run()

    def _initial_state(self, previous: StackState) -> StackState:
        """Returns the state at the start, with the ports and passwords of the previous run where possible."""
        if "api" in self._parts:
            identity(self._settings.tls)  # raises what is wrong with it now, and not in the log of the API
            require_free(self._settings.port, self._settings.host)
        ports = choose_ports(PORTS, previous.ports) | {"api": self._settings.port} | self._configured_grpc_port()
        passwords = {role: previous.passwords.get(role) or new_password() for role in ROLES}
        users = () if self._settings.kafka_bootstrap else USERS
        certificate = self._settings.tls.certificate
        host = LOOPBACK_OF.get(self._settings.host, self._settings.host)
        host = f"[{host}]" if ":" in host else host
        return StackState(
            data_dir=self._data_dir,
            ports=ports,
            passwords=passwords,
            kafka_passwords={user: previous.kafka_passwords.get(user) or new_password() for user in users},
            url=f"{self._settings.scheme}://{host}:{self._settings.port}",
            certificate=str(certificate.resolve()) if certificate else "",
            grpc=f"{host}:{ports['grpc']}",
            kafka=self._settings.kafka_bootstrap or f"127.0.0.1:{ports['kafka']}",
            database=self._settings.database_url
            or f"postgresql://lily:{passwords['lily']}@127.0.0.1:{ports['postgres']}/lily",
        )

    def _configured_grpc_port(self) -> dict[str, int]:
        """The port of LILY_GRPC_PORT, if it is set; otherwise any free port is used."""
        port = self._settings.grpc_port
        if port and "api" in self._parts:
            require_free(port, self._settings.host, "LILY_GRPC_PORT")
        return {"grpc": port} if port else {}

    def _stages(self, state: StackState) -> list[Stage]:
        jars = ensure_jars(self._settings.jars_dir, wanted=class_paths(self._settings.warehouse))
        """Everything starts at once, because a start is mostly loading code: the services load theirs and wait for the
        gate, which opens when the engines are prepared."""
        close_gate(self._data_dir)
        kafka, postgres, services = self._kafka(state, jars), self._postgres(state), self._services(state, jars)
        return [
            Stage(postgres, (*kafka, *services), "preparing the schema", lambda: self._prepare_schema(state, services)),
            Stage(kafka, (), "preparing topics", lambda: self._prepare_log(state, services)),
            *([Stage(services)] if services else []),
        ]

    def _prepare_schema(self, state: StackState, services: Collection[Part]) -> None:
        if services:
            roles = {role: state.passwords[role] for role in ROLES if role != "lily"}
            prepare_schema(self._settings, state.database, roles)

    def _prepare_log(self, state: StackState, services: Collection[Part]) -> None:
        """The users of Kafka are needed by everyone who wants to reach it, the rest by the services."""
        if any(part.name == "kafka" for part in state.parts):
            ensure_access(brokers_of(state, BROKER), state.kafka_passwords)
        if services:
            prepare_topics(self._settings, stack_settings(self._settings, state).brokers)
            open_gate(self._data_dir)

    def _kafka(self, state: StackState, jars: Path) -> tuple[Part, ...]:
        """The broker, unless the settings have an address for one."""
        if "kafka" not in self._parts or self._settings.kafka_bootstrap:
            return ()
        ports = state.ports
        return (Kafka(self._data_dir, jars, ports["kafka"], ports["controller"], state.kafka_passwords[BROKER]),)

    def _postgres(self, state: StackState) -> tuple[Part, ...]:
        """The database, unless the settings have an address for one."""
        if "postgres" not in self._parts or self._settings.database_url:
            return ()
        return (Postgres(self._data_dir, state.ports["postgres"], state.passwords["lily"]),)

    def _services(self, state: StackState, jars: Path) -> tuple[Part, ...]:
        names = [name for name in SERVICES if name in self._parts]
        if not names:
            return ()
        databases = {role: url_for_role(state.database, role, state.passwords[role]) for role in ROLES}
        configured = self._settings.master_key_file
        key = configured.expanduser().resolve() if configured else ensure_master_key(self._data_dir)
        embedded = {name: brokers_of(state, USER_OF[name]) for name in names if state.kafka_passwords}
        environment = ServiceEnvironment(self._data_dir, state.kafka, databases, state.ports, jars, key, embedded)
        host = LOOPBACK_OF.get(self._settings.host, self._settings.host)
        api = Service("api", environment, host, probe=_probe_of(self._settings.tls))
        pipeline = Service("pipeline", environment, umask=self._pipeline_umask)
        others = {"api": api, "pipeline": pipeline}
        return tuple(others.get(name) or Service(name, environment) for name in names)


def _probe_of(tls: Tls) -> Callable[[int, str], bool]:
    if tls.client_ca:
        return tls_responds
    return https_ready if tls.certificate else http_ready


def make_data_dir(data_dir: Path) -> None:
    """Creates a directory for its owner alone; if PostgreSQL runs as another user, one that all may enter. Everything
    in it is private."""
    try:
        if not data_dir.is_dir():
            data_dir.mkdir(parents=True)
            data_dir.chmod(0o755 if unprivileged_account() else 0o700)  # regardless of the umask
    except OSError as error:
        raise DataDirUnusable(
            f"{data_dir} cannot be created: {error.strerror}. Choose another directory with --data-dir."
        ) from error
    if not os.access(data_dir, os.W_OK | os.X_OK):
        raise DataDirUnusable(f"{data_dir} is not writable. Choose another directory with --data-dir.")
