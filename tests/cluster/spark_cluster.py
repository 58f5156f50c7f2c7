"""A real standalone cluster of Spark on this machine, from the same package that the driver uses."""

import os
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx

from lily.embedded.java import find_java
from lily.embedded.ports import choose_ports
from tests.cluster.processes import Program, running

PATIENCE_SECONDS = 60.0
MASTER, WORKER = "org.apache.spark.deploy.master.Master", "org.apache.spark.deploy.worker.Worker"
HOST = "127.0.0.1"


@dataclass(frozen=True)
class Cluster:
    address: str
    monitor: str
    secret: Path  # what its processes and their clients authenticate with
    master: Program
    workers: tuple[Program, ...]

    @property
    def variables(self) -> dict[str, str]:
        """The settings of a pipeline that runs there."""
        return {"LILY_SPARK_MASTER": self.address, "LILY_SPARK_SECRET_FILE": str(self.secret)}

    def state(self) -> dict[str, Any]:
        """What the master says of its workers and applications; nothing while it cannot be asked."""
        try:
            answer = httpx.get(f"{self.monitor}/json/", timeout=5)
        except httpx.HTTPError:
            return {}
        return dict(answer.json()) if answer.is_success else {}

    def living_workers(self) -> int:
        return sum(worker["state"] == "ALIVE" for worker in self.state().get("workers", ()))

    def last_words(self) -> str:
        return "\n".join(program.last_words() for program in (self.master, *self.workers))


@contextmanager
def spark_cluster(place: Path, workers: int = 2) -> Iterator[Cluster]:
    ports = choose_ports(["master", "monitor", *(f"worker-{at}" for at in range(workers))], {})
    address = f"spark://{HOST}:{ports['master']}"
    environment = {
        "JAVA_HOME": str(find_java().resolve().parent.parent),
        "SPARK_LOCAL_IP": HOST,
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": sys.executable,
    }
    secret, properties = place / "spark.secret", place / "spark.properties"
    secret.write_text(secrets.token_hex(16))
    lines = ("spark.authenticate true", "spark.network.crypto.enabled true")
    properties.write_text("\n".join((*lines, f"spark.authenticate.secret {secret.read_text()}")))
    at_home = ("--properties-file", str(properties), "--host", HOST, "--webui-port")
    with ExitStack() as started:

        def start(name: str, *arguments: str) -> Program:
            return started.enter_context(running(name, (_spark_class(), *arguments), environment, place / "logs"))

        master = start("master", MASTER, *at_home, str(ports["monitor"]), "--port", str(ports["master"]))
        size = ("--cores", "1", "--memory", "1g")
        programs = tuple(
            start(name, WORKER, *at_home, str(ports[name]), *size, "--work-dir", str(place / name), address)
            for name in (f"worker-{at}" for at in range(workers))
        )
        cluster = Cluster(address, f"http://{HOST}:{ports['monitor']}", secret, master, programs)
        wait_until(lambda: cluster.living_workers() == workers, cluster.last_words)
        yield cluster


def wait_until(holds: Callable[[], bool], otherwise: Callable[[], str], seconds: float = PATIENCE_SECONDS) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, f"not within {seconds:.0f} s\n{otherwise()}"
        time.sleep(0.2)


def _spark_class() -> str:
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    return str(Path(spec.origin).parent / "bin" / f"spark-class{'.cmd' if os.name == 'nt' else ''}")
