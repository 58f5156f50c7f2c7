"""One KRaft node on loopback, formatted on first start."""

import base64
import os
import shutil
import signal
import uuid
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from lily.embedded.java import find_java
from lily.embedded.kafka.properties import properties
from lily.embedded.kafka.users import BROKER
from lily.embedded.probes import kafka_responds
from lily.embedded.process import Command, engine_environment, run_to_end
from lily.embedded.state import replace_file
from lily.model.errors import Terminal

MEMORY = ("-Xms128m", "-Xmx384m", "-XX:+ExitOnOutOfMemoryError")
# Formatting takes a second: the quick compiler and the small garbage collector halve that.
SHORT_LIVED = ("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


class KafkaUnusable(Terminal):
    """The directory of the log needs a person to repair it."""


@dataclass(frozen=True, slots=True)
class Kafka:
    """A broker and its controller in one process."""

    data_dir: Path
    jars: Path
    port: int
    controller_port: int
    password: str  # of the node itself
    name: str = "kafka"
    stop_signal: signal.Signals = signal.SIGTERM
    grace: float = 20.0

    @property
    def home(self) -> Path:
        return self.data_dir / "kafka"

    @property
    def logs(self) -> Path:
        return self.home / "data"

    def prepare(self) -> None:
        self.home.mkdir(mode=0o700, exist_ok=True)  # it contains the events of all tenants
        (self.home / "log4j2.properties").write_text(files("lily.embedded").joinpath("log4j2.properties").read_text())
        self._write_properties(self.home / "server.properties", self.logs)
        if not (self.logs / "meta.properties").is_file():
            self._format()

    def command(self) -> Command:
        return self._java(*MEMORY, main=("kafka.Kafka", str(self.home / "server.properties")))

    def healthy(self) -> bool:
        return kafka_responds(self.port, BROKER, self.password)

    def _format(self) -> None:
        """Formats a separate directory and renames it, so an interrupted format leaves nothing incomplete."""
        self._check_for_events()
        draft = self.home / "data.new"
        for leftover in (draft, self.logs):
            shutil.rmtree(leftover, ignore_errors=True)
        configuration = self.home / "format.properties"
        self._write_properties(configuration, draft)
        done = run_to_end(self._java(*SHORT_LIVED, main=_format_arguments(configuration)))
        configuration.unlink()
        if done.returncode != 0:
            raise KafkaUnusable(f"Kafka could not format {self.home}:\n{done.stdout.strip()}")
        draft.rename(self.logs)

    def _check_for_events(self) -> None:
        """Raises KafkaUnusable if there are events without meta.properties: formatting would lose them."""
        topics = [log for log in self.logs.glob("*-[0-9]*") if log.is_dir() and not log.name.startswith("__")]
        if topics:
            raise KafkaUnusable(
                f"{self.logs} contains events but no meta.properties. Restore that file from a backup, or move the "
                "directory away to start with an empty log."
            )

    def _java(self, *options: str, main: tuple[str, ...]) -> Command:
        configuration = f"-Dlog4j2.configurationFile={(self.home / 'log4j2.properties').as_uri()}"
        argv = (str(find_java()), *options, configuration, "-cp", f"{self.jars / 'broker'}{os.sep}*", *main)
        return Command(argv, env=engine_environment(self.data_dir), cwd=self.home)

    def _write_properties(self, path: Path, logs: Path) -> None:
        stated = properties(self.port, self.controller_port, logs, self.password)
        replace_file(path, "".join(f"{name}={value}\n" for name, value in stated.items()))


def _format_arguments(properties: Path) -> tuple[str, ...]:
    cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
    # With "=", because an id that starts with "-" would be parsed as an option.
    return ("kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "--config", str(properties))
