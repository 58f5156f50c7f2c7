"""The embedded PostgreSQL, on loopback with a password."""

import signal
from dataclasses import dataclass, replace
from pathlib import Path

import psutil  # type: ignore[import-untyped]

from lily.embedded.orphans import processes_in
from lily.embedded.pgdata import Cluster, DatabaseUnusable, locate
from lily.embedded.privilege import give_to, unprivileged
from lily.embedded.probes import postgres_answers
from lily.embedded.process import Command

PATIENCE = 5.0  # the children of a killed server end by themselves once they notice, unless busy in a query

SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    # For 2 cores shared with a broker and Spark.
    "shared_buffers": "192MB",
    "max_connections": "60",
    "max_wal_size": "2GB",
    "checkpoint_completion_target": "0.9",
    "jit": "off",
    "synchronous_commit": "on",
    "autovacuum": "on",
    # This build knows only pglz for wal_compression, which costs more CPU than it saves disk: it stays off.
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
            _refuse_foreign_files(cluster)
            cluster.create(self.password)
            return
        give_to(cluster.account, cluster.directory)
        _end_leftovers(cluster.directory)
        cluster.set_password(self.password)

    def command(self) -> Command:
        cluster = self._cluster()
        options = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        start = cluster.command("postgres", "-D", str(cluster.directory), "-p", str(self.port), *options)
        return replace(start, death_signal=signal.SIGINT)

    def healthy(self) -> bool:
        return postgres_answers(self.url)

    def _cluster(self) -> Cluster:
        return locate(self.data_dir, unprivileged())


def _refuse_foreign_files(cluster: Cluster) -> None:
    if cluster.directory.is_dir() and any(cluster.directory.iterdir()):
        raise DatabaseUnusable(
            f"{cluster.directory} is not empty and holds no PostgreSQL database. Move it away and start again."
        )
    if cluster.directory.is_dir():
        cluster.directory.rmdir()


def _end_leftovers(directory: Path) -> None:
    """Waits out, then ends, the children of a killed server, and removes its pid file.

    While one of them lives a new server refuses to start, because they share memory. The pid file is stale for certain
    then, even if its pid has gone to another process meanwhile, for which PostgreSQL would take it as a running server.
    """
    leftovers = list(processes_in(directory.resolve()))
    _, alive = psutil.wait_procs(leftovers, timeout=PATIENCE)
    for process in alive:
        process.kill()
    psutil.wait_procs(alive, timeout=PATIENCE)
    (directory / "postmaster.pid").unlink(missing_ok=True)
