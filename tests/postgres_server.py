"""A PostgreSQL of its own for tests that change what all databases of a server share, such as the roles' passwords."""

import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

from lily.embedded.ports import choose_ports
from lily.embedded.postgres import Postgres
from lily.embedded.process import last_lines, spawn

START_SECONDS = 60.0


@dataclass(frozen=True)
class Server:
    """One running server. `url` is the superuser's, in the database `lily`."""

    url: str

    def create_database(self, owner: str = "lily", template: str = "template1") -> str:
        """A new database, empty or the copy of one that nobody uses; returns the superuser's URI of it."""
        name = f"db_{secrets.token_hex(4)}"
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(
                sql.SQL("create database {} owner {} template {}").format(*map(sql.Identifier, (name, owner, template)))
            )
        return urlunsplit(urlsplit(self.url)._replace(path=f"/{name}"))


@contextmanager
def postgres_server() -> Iterator[Server]:
    directory = Path(tempfile.mkdtemp(prefix="lily-postgres-"))
    directory.chmod(0o755)  # as root it runs under another account, which has to reach its files
    part = Postgres(directory, choose_ports(["postgres"], {})["postgres"], secrets.token_hex(8))
    part.prepare()
    command = part.command()
    log = directory / "logs" / "postgres.log"
    # A crash of the machine would lose data that no test reads afterwards.
    process = spawn(replace(command, argv=(*command.argv, "-c", "fsync=off")), log)
    try:
        _wait_until_healthy(part, process, log)
        yield Server(part.url)
    finally:
        process.send_signal(signal.SIGQUIT)  # at once: what an orderly stop would write is thrown away
        process.wait(timeout=part.grace)
        shutil.rmtree(directory)


def _wait_until_healthy(part: Postgres, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not part.healthy():
        assert process.poll() is None, last_lines(log)
        assert time.monotonic() < deadline, last_lines(log)
        time.sleep(0.05)
