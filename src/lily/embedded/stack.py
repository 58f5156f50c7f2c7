"""Puts a stack together: which parts are ours, their ports and passwords; then the supervisor takes over."""

from collections.abc import Callable, Sequence
from pathlib import Path

from lily.embedded.bootstrap import ensure_master_key, prepare_stores, url_for_role
from lily.embedded.jars import class_paths, ensure_jars
from lily.embedded.kafka import Kafka
from lily.embedded.lock import DirectoryLock
from lily.embedded.orphans import end_orphans
from lily.embedded.part import Part
from lily.embedded.ports import choose_ports, require_free
from lily.embedded.postgres import Postgres
from lily.embedded.services import SERVICES, Service, Surroundings
from lily.embedded.state import ROLES, StackState, load, new_password
from lily.embedded.supervisor import Stage, Supervisor
from lily.model.errors import Terminal
from lily.settings import Settings

ENGINES = ("kafka", "postgres")
PARTS = (*ENGINES, *SERVICES)
PORTS = ("kafka", "controller", "postgres", "pipeline", "worker", "grpc")
ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 (not bound here: where to reach what binds them)

Watch = Callable[[StackState], None]


class Stack:
    """One data directory's stack, of all parts or of some of them."""

    def __init__(self, settings: Settings, parts: Sequence[str] = PARTS) -> None:
        unknown = set(parts) - set(PARTS)
        if unknown:
            raise Terminal(f"There is no part {', '.join(sorted(unknown))}. The parts are {', '.join(PARTS)}.")
        self._settings, self._wanted = settings, parts
        self._data_dir = settings.data_dir
        self._supervisor: Supervisor | None = None
        self._stop_early = False

    def stop(self) -> None:
        """Asks for an orderly stop. Safe to call from a signal handler, at any time."""
        self._stop_early = True
        if self._supervisor:
            self._supervisor.stop()

    def run(self, watch: Watch = lambda _: None) -> None:
        """Runs until asked to stop. Raises AlreadyRunning if the directory has a supervisor."""
        make_data_dir(self._data_dir)
        with DirectoryLock(self._data_dir) as lock:
            end_orphans(self._data_dir)
            state = self._renewed(load(self._data_dir))
            self._supervisor = Supervisor(state, lock, self._stages(state), watch)
            if not self._stop_early:
                self._supervisor.run()

    def _renewed(self, previous: StackState) -> StackState:
        """The state of a new start: the ports and passwords of the last one, where they still serve."""
        if "api" in self._wanted:
            require_free(self._settings.port, self._settings.host)
        ports = choose_ports(PORTS, previous.ports) | {"api": self._settings.port} | self._asked_for()
        passwords = {role: previous.passwords.get(role) or new_password() for role in ROLES}
        host = ANY_ADDRESS.get(self._settings.host, self._settings.host)
        host = f"[{host}]" if ":" in host else host
        return StackState(
            data_dir=self._data_dir,
            ports=ports,
            passwords=passwords,
            url=f"http://{host}:{self._settings.port}",
            grpc=f"{host}:{ports['grpc']}",
            kafka=self._settings.kafka_bootstrap or f"127.0.0.1:{ports['kafka']}",
            database=self._settings.database_url
            or f"postgresql://lily:{passwords['lily']}@127.0.0.1:{ports['postgres']}/lily",
        )

    def _asked_for(self) -> dict[str, int]:
        """Where the user wants gRPC; otherwise any free port will do."""
        port = self._settings.grpc_port
        if port and "api" in self._wanted:
            require_free(port, self._settings.host, "LILY_GRPC_PORT")
        return {"grpc": port} if port else {}

    def _stages(self, state: StackState) -> list[Stage]:
        jars = ensure_jars(self._settings.jars_dir, wanted=class_paths(self._settings.warehouse))
        engines = self._engines(state, jars)
        services = self._services(state, jars)
        if not services:
            return [Stage(engines)]
        roles = {role: state.passwords[role] for role in ROLES if role != "lily"}
        return [
            Stage(
                engines,
                "preparing schema and topics",
                lambda: prepare_stores(self._settings, state.kafka, state.database, roles),
            ),
            Stage(services),
        ]

    def _engines(self, state: StackState, jars: Path) -> tuple[Part, ...]:
        """The engines that are ours; one that the settings name an address of is somebody else's."""
        parts: list[Part] = []
        if "kafka" in self._wanted and not self._settings.kafka_bootstrap:
            parts.append(Kafka(self._data_dir, jars, state.ports["kafka"], state.ports["controller"]))
        if "postgres" in self._wanted and not self._settings.database_url:
            parts.append(Postgres(self._data_dir, state.ports["postgres"], state.passwords["lily"]))
        return tuple(parts)

    def _services(self, state: StackState, jars: Path) -> tuple[Part, ...]:
        names = [name for name in SERVICES if name in self._wanted]
        if not names:
            return ()
        databases = {role: url_for_role(state.database, role, state.passwords[role]) for role in ROLES}
        key = ensure_master_key(self._data_dir)
        surroundings = Surroundings(self._data_dir, state.kafka, databases, state.ports, jars, key)
        host = ANY_ADDRESS.get(self._settings.host, self._settings.host)
        return tuple(Service(name, surroundings, host if name == "api" else "127.0.0.1") for name in names)


def make_data_dir(data_dir: Path) -> None:
    """Open for passing through, whatever the umask: PostgreSQL may run as another user. Secrets in it are 0600."""
    if not data_dir.is_dir():
        data_dir.mkdir(parents=True)
        data_dir.chmod(0o755)
