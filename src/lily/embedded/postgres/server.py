"""The embedded PostgreSQL server, on loopback with a password."""

import signal
from dataclasses import dataclass, replace
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from lily.embedded.accounts import change_owner, unprivileged_account
from lily.embedded.postgres.cluster import Cluster, DatabaseUnusable, locate_cluster
from lily.embedded.probes import postgres_responds
from lily.embedded.process import Command
from lily.embedded.supervision.orphans import processes_in

LEFTOVER_TIMEOUT = 5.0  # children of a killed server end by themselves once they notice, unless a query keeps them busy

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    # For 2 cores shared with a broker and Spark.
    "shared_buffers": "192MB",
    # Lily's own parts hold up to 50 under load; the rest is for further processes of the API and for people.
    "max_connections": "120",
    "max_wal_size": "2GB",
    "checkpoint_completion_target": "0.9",
    "jit": "off",
    "synchronous_commit": "on",
    "autovacuum": "on",
    # This build supports only pglz for wal_compression, which costs more CPU than it saves disk: it stays off.
    "log_destination": "stderr",
    "logging_collector": "off",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] %q%u@%d ",
}


@dataclass(frozen=True, slots=True)
class Postgres:
    """One server with the owner and the database `lily`."""

    data_dir: Path
    port: int
    password: str
    name: str = "postgres"
    stop_signal: signal.Signals = signal.SIGINT  # the fast shutdown: it does not wait for clients
    grace: float = 30.0

    @property
    def url(self) -> str:
        return f"postgresql://lily:{self.password}@127.0.0.1:{self.port}/lily"

    def prepare(self) -> None:
        cluster = self._cluster()
        if not (cluster.directory / "PG_VERSION").is_file():
            _check_empty(cluster)
            cluster.create(self.password)
            return
        change_owner(cluster.account, cluster.directory)
        _end_leftovers(cluster.directory)
        cluster.set_password(self.password)

    def command(self) -> Command:
        cluster = self._cluster()
        options = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        start = cluster.command("postgres", "-D", str(cluster.directory), "-p", str(self.port), *options)
        return replace(start, death_signal=signal.SIGINT)

    def healthy(self) -> bool:
        return postgres_responds(self.url)

    def _cluster(self) -> Cluster:
        return locate_cluster(self.data_dir, unprivileged_account())


def _check_empty(cluster: Cluster) -> None:
    if cluster.directory.is_dir() and any(cluster.directory.iterdir()):
        raise DatabaseUnusable(
            f"{cluster.directory} is not empty and contains no PostgreSQL database. Move it away and start again."
        )
    if cluster.directory.is_dir():
        cluster.directory.rmdir()


def _end_leftovers(directory: Path) -> None:
    """Waits for the children of a killed server, kills those that remain, and removes the server's pid file.

    A new server refuses to start while one of them lives, because they share memory. Without them the pid file is
    certainly stale, even if another process has got its pid and PostgreSQL would take that for a running server.
    """
    leftovers = list(processes_in(directory.resolve()))
    _, alive = psutil.wait_procs(leftovers, timeout=LEFTOVER_TIMEOUT)
    for process in alive:
        process.kill()
    psutil.wait_procs(alive, timeout=LEFTOVER_TIMEOUT)
    (directory / "postmaster.pid").unlink(missing_ok=True)
