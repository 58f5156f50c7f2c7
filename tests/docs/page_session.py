"""One reader of one page: a directory, a shell, a Python and an HTTP client that last from block to block."""

import json
import os
import re
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import httpx
import psycopg

from tests.docs.blocks import ROOT, Block
from tests.docs.http_requests import Request, read_requests
from tests.docs.python_session import PythonSession
from tests.shared_stack import Stack

BLOCK_SECONDS = 60
ANYTHING = "…"  # in a response that is shown: any value
# With the build back end that is installed here: pip would download another one. "off" means: no isolation.
PIP = {"PIP_NO_BUILD_ISOLATION": "off", "PIP_NO_INDEX": "1"}


class PageSession:
    """Its directory looks like a clone of the repository in which `make setup` and `lily up` were run."""

    def __init__(self, stack: Stack, directory: Path, variables: dict[str, str], token: str) -> None:
        self._stack, self._directory = stack, directory
        for name in ("README.md", "Makefile", "docs", "proto", "src", "tests", "examples", "bench"):
            if (ROOT / name).exists():
                (directory / name).symlink_to(ROOT / name)
        (directory / ".lily").symlink_to(stack.data_dir)
        (directory / ".venv").symlink_to(sys.prefix)
        # curl regards an error response as a success unless told otherwise.
        (directory / ".curlrc").write_text("fail-with-body\nsilent\nshow-error\n")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LILY_")}
        path = f"{Path(sys.prefix, 'bin')}:{os.environ['PATH']}"
        self._environment = kept | PIP | {"PATH": path, "CURL_HOME": str(directory)} | variables
        self._state = directory / ".shell-state"
        self._state.touch()
        self._python: PythonSession | None = None
        self._http = httpx.Client(base_url=stack.url, headers={"Authorization": f"Bearer {token}"}, timeout=60)
        self._response: httpx.Response | None = None
        self._printed: str | None = None

    def close(self) -> None:
        self._http.close()
        if self._python is not None:
            self._python.close()

    def run(self, block: Block) -> None:
        """Raises AssertionError, or what a parser raises, if the block does not do what it shows."""
        if block.not_run:
            return
        if block.language in ("", "text"):
            self._compare_output(block)
        elif block.language == "bash":
            self._run_shell(block)
        elif block.language == "python":
            self._python = self._python or PythonSession(self._directory, self._environment)
            self._python.run(block)
        elif block.language == "http":
            for request in read_requests(block.text):
                self._send(block, request)
        elif block.language == "json":
            self._compare(block, json.loads(block.text))
        elif block.language == "toml":
            tomllib.loads(block.text)
        elif block.language == "sql":
            self._try_sql(block)
        else:
            raise AssertionError(f"{block}: nothing runs this language. Known: bash, python, http, json, toml, sql.")

    def _run_shell(self, block: Block) -> None:
        script = f"source {self._state}\n{block.text}\ndeclare -px > {self._state}\n"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],  # noqa: S607 - whichever the reader has
            cwd=self._directory,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=BLOCK_SECONDS,
            check=False,
        )
        shown = f"{block} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}"
        assert (done.returncode == 0) is (block.role != "refused"), shown
        self._printed = done.stdout + done.stderr

    def _compare_output(self, block: Block) -> None:
        if block.role == "response":
            assert self._printed is not None, f"{block} shows an output, and nothing was run before it."
            assert prints(block.text, self._printed), f"{block} shows what was not printed:\n{self._printed}"

    def _send(self, block: Block, request: Request) -> None:
        receipt = self._response.headers.get("Lily-Receipt", "") if self._response is not None else ""
        target = request.target.replace("{receipt}", receipt)
        response = self._respond(request, target)
        shown = f"{block}: {request.method} {request.target} returned {response.status_code}: {response.text[:2_000]}"
        assert response.is_success is (block.role != "refused"), shown
        assert response.status_code != 202 or "Prefer" not in request.headers, f"{shown}\nIt took longer than it waits."
        self._response = response

    def _respond(self, request: Request, target: str) -> httpx.Response:
        """Sends it again while it gets 503 with Retry-After: the lake of a new stack has recorded nothing yet."""
        deadline = time.monotonic() + BLOCK_SECONDS
        while True:
            response = self._http.request(request.method, target, content=request.body or None, headers=request.headers)
            if response.status_code != 503 or "Retry-After" not in response.headers or time.monotonic() > deadline:
                return response
            time.sleep(float(response.headers["Retry-After"]))

    def _compare(self, block: Block, shown: Any) -> None:
        if block.role == "response":
            assert self._response is not None, f"{block} shows a response, and nothing was requested before it."
            actual = self._response.json()
            assert holds(shown, actual), f"{block} shows what was not returned: {json.dumps(actual, indent=1)}"

    def _try_sql(self, block: Block) -> None:
        """Runs it as the owner, and takes it back."""
        with psycopg.connect(self._stack.database) as connection:
            connection.execute(block.text.encode())
            connection.rollback()


def prints(shown: str, actual: str) -> bool:
    """Whether an output is what the page shows. … stands for any text, also of several lines."""
    pattern = ".*".join(re.escape(part) for part in shown.strip().split(ANYTHING))
    return re.fullmatch(pattern, actual.strip(), re.DOTALL) is not None


def holds(shown: Any, actual: Any) -> bool:
    """Whether a response has what the page shows. An object may have more keys, and … stands for any value."""
    if shown == ANYTHING:
        return True
    if isinstance(shown, dict):
        return isinstance(actual, dict) and all(key in actual and holds(shown[key], actual[key]) for key in shown)
    if isinstance(shown, list):
        return isinstance(actual, list) and len(shown) == len(actual) and all(map(holds, shown, actual))
    return bool(shown == actual)
