"""One real stack for all tests that need one, started once. Every test works in a tenant of its own."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import settings

from lily.embedded.bootstrap import url_for_role
from lily.embedded.ports import choose_ports
from lily.embedded.state import load
from lily.store.postgres.access import create_tenant, create_token
from lily.store.postgres.hot import HotStore

# How long an example takes says nothing on a machine that runs a whole stack beside it.
settings.register_profile("lily", deadline=None)
settings.load_profile("lily")


@dataclass(frozen=True)
class Stack:
    url: str
    token: str
    kafka: str
    database: str
    data_dir: Path
    grpc: str

    def database_of(self, role: str) -> str:
        """The libpq URI of one of Lily's roles."""
        return url_for_role(self.database, role, load(self.data_dir).passwords[role])


def lily(*words: str, data_dir: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lily", *words, "--data-dir", str(data_dir), "--format", "json"]
    # Tests wait for the lake often and put little into it: small batches, soon.
    environment = {**os.environ, "LILY_LAKE__TRIGGER_SECONDS": "0.5"}
    return subprocess.run(command, capture_output=True, text=True, timeout=170, check=False, env=environment)


@pytest.fixture(scope="session")
def stack() -> Iterator[Stack]:
    data_dir = Path(tempfile.mkdtemp(prefix="lily-tests-"))
    try:
        told = lily("up", "--detach", "--port", str(choose_ports(["api"], {})["api"]), data_dir=data_dir)
        assert told.returncode == 0, told.stdout + told.stderr
        answer = json.loads(told.stdout.splitlines()[-1])
        yield Stack(answer["url"], answer["token"], answer["kafka"], answer["database"], data_dir, answer["grpc"])
    finally:
        lily("down", data_dir=data_dir)
        if os.environ.get("LILY_KEEP_TEST_DATA"):
            sys.stderr.write(f"kept {data_dir}\n")
        else:
            shutil.rmtree(data_dir, ignore_errors=True)


@pytest.fixture(scope="session")
def make_tenant(stack: Stack) -> Callable[[], tuple[str, str]]:
    """A new tenant and an admin token of it."""

    def make() -> tuple[str, str]:
        name = f"t{uuid.uuid4().hex[:12]}"
        create_tenant(stack.database, name)
        return name, create_token(stack.database, name, ["admin"], user="tester")

    return make


@pytest.fixture(scope="session")
def hot_store(stack: Stack) -> Iterator[HotStore]:
    """The store as the pipeline has it, for tests that feed it without the log."""
    store = HotStore(stack.database_of("lily_pipeline"))
    yield store
    store.close()
