"""The one stack that all tests share, however many processes run them: the first that needs it starts it."""

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from lily.embedded.bootstrap import url_for_role
from lily.embedded.ports import choose_ports
from lily.embedded.state import load
from tests.kafka_access import KafkaAccess

# Tests wait for the lake often and put little into it: small batches, soon. They wait for what was changed by hand in a
# target to come back. And they end before the best machine code would pay for its making, in Spark and in Kafka.
ENVIRONMENT = {
    "LILY_LAKE__TRIGGER_SECONDS": "1",
    "LILY_ENFORCEMENT__REFRESH_SECONDS": "5",
    "LILY_OUTBOUND__ALLOWED_NETWORKS": '["127.0.0.0/8"]',  # where tests receive webhooks
    "JAVA_TOOL_OPTIONS": f"{os.environ.get('JAVA_TOOL_OPTIONS', '')} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC".lstrip(),
}


@dataclass(frozen=True)
class Stack:
    url: str
    token: str
    database: str
    data_dir: Path
    grpc: str

    @property
    def kafka(self) -> KafkaAccess:
        return KafkaAccess(self.data_dir)

    def database_of(self, role: str) -> str:
        """The libpq URI of one of Lily's roles."""
        return url_for_role(self.database, role, load(self.data_dir).passwords[role])


def lily(*words: str, data_dir: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lily", *words, "--data-dir", str(data_dir), "--format", "json"]
    environment = {**os.environ, **ENVIRONMENT}
    return subprocess.run(command, capture_output=True, text=True, timeout=170, check=False, env=environment)


class SharedStack:
    """A directory that the processes of one run know, and the stack in it once one of them has asked for it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._data_dir, self._told = directory / "data", directory / "told.json"

    @classmethod
    def make(cls) -> "SharedStack":
        return cls(Path(tempfile.mkdtemp(prefix="lily-tests-")))

    def running(self) -> Stack:
        with (self.directory / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not self._told.exists():
                self._start()
        told = json.loads(self._told.read_text())
        return Stack(**told | {"data_dir": Path(told["data_dir"])})

    def end(self) -> None:
        if self._data_dir.exists():
            lily("down", data_dir=self._data_dir)
        if os.environ.get("LILY_KEEP_TEST_DATA"):
            sys.stderr.write(f"kept {self.directory}\n")
        else:
            shutil.rmtree(self.directory, ignore_errors=True)

    def _start(self) -> None:
        told = lily("up", "--detach", "--port", str(choose_ports(["api"], {})["api"]), data_dir=self._data_dir)
        assert told.returncode == 0, told.stdout + told.stderr
        answer = json.loads(told.stdout.splitlines()[-1])
        stack = Stack(answer["url"], answer["token"], answer["database"], self._data_dir, answer["grpc"])
        self._told.write_text(json.dumps(asdict(stack) | {"data_dir": str(self._data_dir)}))
