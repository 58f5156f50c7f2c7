"""Lily's own parts: the same programs that a real deployment runs, each in a process of its own."""

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lily.brokers import Brokers
from lily.embedded import gate
from lily.embedded.kafka.users import brokers_environment
from lily.embedded.probes import http_ready
from lily.embedded.process import MARK, Command

SERVICES = ("pipeline", "worker", "api")
ROLE_OF = {"api": "lily_api", "pipeline": "lily_pipeline", "worker": "lily_pipeline"}


@dataclass(frozen=True)
class ServiceEnvironment:
    """The environment variables of the services of one stack."""

    data_dir: Path
    kafka: str
    databases: Mapping[str, str]  # the libpq URI of each role
    ports: Mapping[str, int]
    jars: Path
    master_key: Path
    embedded_kafka: Mapping[str, Brokers] = field(default_factory=dict)  # as each service sees it

    def of(self, name: str) -> dict[str, str]:
        """Returns the complete environment of a service."""
        shared = {
            MARK: str(self.data_dir),
            gate.VARIABLE: str(gate.gate_of(self.data_dir)),
            "LILY_DATA_DIR": str(self.data_dir),
            "LILY_KAFKA_BOOTSTRAP": self.kafka,
            "LILY_DATABASE_URL": self.databases[ROLE_OF[name]],
            "LILY_JARS_DIR": str(self.jars),
            "LILY_MASTER_KEY_FILE": str(self.master_key),
        }
        return dict(os.environ) | shared | self._kafka_login(name) | self._addresses(name)

    def _kafka_login(self, name: str) -> dict[str, str]:
        return brokers_environment(self.embedded_kafka[name]) if name in self.embedded_kafka else {}

    def _addresses(self, name: str) -> dict[str, str]:
        if name != "api":  # LILY_HOST is the API's: metrics and probes need no token, so they stay on loopback
            listening = {"LILY_HOST": "127.0.0.1", "LILY_METRICS_PORT": str(self.ports[name])}
            return {**listening, "LILY_PORT": str(self.ports["api"])}  # links in messages lead to the API
        peers = [f"http://127.0.0.1:{port}" for other, port in self.ports.items() if other in ("pipeline", "worker")]
        return {
            "LILY_PORT": str(self.ports["api"]),
            "LILY_GRPC_PORT": str(self.ports["grpc"]),
            "LILY_METRICS_PEERS": json.dumps(peers),
        }


@dataclass(frozen=True)
class Service:
    """One of Lily's own processes."""

    name: str
    environment: ServiceEnvironment
    host: str = "127.0.0.1"
    stop_signal: signal.Signals = signal.SIGTERM
    grace: float = 20.0
    probe: Callable[[int, str], bool] = http_ready
    umask: int = -1

    def prepare(self) -> None:
        """Does nothing: a service has no files that a crash could leave incomplete."""

    def command(self) -> Command:
        return Command((sys.executable, "-m", "lily", self.name), env=self.environment.of(self.name), umask=self.umask)

    def healthy(self) -> bool:
        return self.probe(self.environment.ports[self.name], self.host)
