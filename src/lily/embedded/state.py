"""The recorded state of a stack: `stack.json` in its data directory.

The file contains passwords, so only its owner may read it. It is replaced as a whole, so a reader never sees half of
it. A process recorded in it may have ended: check that it is still the same one before acting on it.
"""

import os
import secrets
import tempfile
from pathlib import Path
from typing import Literal

import psutil  # type: ignore[import-untyped]
from pydantic import BaseModel, ValidationError

FILE = "stack.json"
ROLES = ("lily", "lily_api", "lily_pipeline")

Phase = Literal["starting", "ready", "stopping", "stopped", "failed"]
State = Literal["waiting", "starting", "healthy", "unhealthy", "restarting", "stopping", "stopped"]


class RecordedProcess(BaseModel):
    """A process. Its start distinguishes it from a later one with the same pid."""

    pid: int = 0
    create_time: float = 0.0
    started: str = ""  # by a clock that is never set; empty where the system has none

    @classmethod
    def of(cls, pid: int) -> "RecordedProcess":
        return cls(pid=pid, create_time=psutil.Process(pid).create_time(), started=_started(pid))

    def process(self) -> psutil.Process | None:
        """Returns the process, or None if it has ended. A zombie has ended."""
        try:
            found = psutil.Process(self.pid) if self.pid else None
            return found if found and self._is(found) and found.status() != psutil.STATUS_ZOMBIE else None
        except psutil.NoSuchProcess:
            return None

    def _is(self, found: psutil.Process) -> bool:
        if self.started:
            return _started(found.pid) == self.started
        return bool(abs(found.create_time() - self.create_time) < 1.0)


def _started(pid: int) -> str:
    """The boot and the clock tick of it at which a process started. On Linux, times of day are computed from that, and
    move when the clock is set or a virtual machine is resumed."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        ticks = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
    return f"{boot}/{ticks}"


class PartState(BaseModel):
    """One part: its process and its health."""

    name: str
    state: State = "waiting"
    running: RecordedProcess = RecordedProcess()
    restarts: int = 0
    start_seconds: float = 0.0
    detail: str = ""


class StackState(BaseModel):
    """The whole stack. Ports and passwords are kept over restarts; the rest describes the current run."""

    data_dir: Path
    phase: Phase = "stopped"
    detail: str = ""
    error: dict[str, str] = {}
    supervisor: RecordedProcess = RecordedProcess()
    ports: dict[str, int] = {}
    passwords: dict[str, str] = {}
    kafka_passwords: dict[str, str] = {}  # by user; empty if Kafka is not the embedded one
    url: str = ""
    grpc: str = ""
    certificate: str = ""  # the file that the API serves with, if it serves with TLS
    kafka: str = ""
    database: str = ""
    parts: list[PartState] = []

    def supervised(self) -> bool:
        """Whether its supervisor is running."""
        return self.supervisor.process() is not None


def load(data_dir: Path) -> StackState:
    """Returns the recorded state; an empty one if there is none, or it is unreadable, or the directory was copied."""
    try:
        state = StackState.model_validate_json((data_dir / FILE).read_text())
    except (FileNotFoundError, ValidationError, UnicodeDecodeError):
        return StackState(data_dir=data_dir)
    if state.data_dir != data_dir:  # the recorded processes are those of the original directory
        return StackState(data_dir=data_dir, passwords=state.passwords, kafka_passwords=state.kafka_passwords)
    return state


def save(state: StackState) -> None:
    replace_file(state.data_dir / FILE, state.model_dump_json(indent=1) + "\n")


def replace_file(path: Path, text: str) -> None:
    """Writes a file that only its owner may read, completely or not at all. It is on the disk afterwards, and has the
    owner of the file that it replaces: what a key encrypts must not outlive the key."""
    handle, draft = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)  # mkstemp creates it as 0600
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
            file.flush()
            _keep_owner(file.fileno(), path)
            os.fsync(file.fileno())
        Path(draft).replace(path)
        _sync_directory(path.parent)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _keep_owner(handle: int, path: Path) -> None:
    """The administrator may run this for the user who reads the file."""
    if os.geteuid() == 0 and path.exists():
        os.fchown(handle, path.stat().st_uid, path.stat().st_gid)


def _sync_directory(directory: Path) -> None:
    """Otherwise a power failure may undo the renaming."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def new_password() -> str:
    """Returns letters, digits, `-` and `_` only, which need no quoting in SQL, in a URI or in a shell."""
    return secrets.token_urlsafe(24)
