"""Runs the tests of each mutant against a copy of the sources that has its fault.

Each run is a child process that is forked after the libraries were imported, because importing them takes longer than
most of the tests.
"""

import importlib
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Literal, NamedTuple

import pytest

from tests.mutants.copies import ROOT, SourceCopy, Stale
from tests.mutants.mutant import Mutant

Outcome = Literal["noticed", "survived", "stale", "broken"]
TIMED_OUT = " (timed out)"
TIMEOUT = 120  # seconds of one test: with a fault it may wait for ever, and that is noticed too
# None of them imports Lily, which has to come from the copy.
LIBRARIES = (
    "_hypothesis_pytestplugin", "anyio.pytest_plugin", "confluent_kafka", "fastapi", "httpx", "hypothesis.strategies",
    "orjson", "prometheus_client", "psycopg", "psycopg_pool", "pyarrow.parquet", "pydantic", "pydantic_settings",
    "pyiceberg.table", "pytest_timeout", "schemathesis.pytest.plugin", "sqlglot", "structlog", "xdist.plugin",
    "xdist.scheduler",
)  # fmt: skip


class Result(NamedTuple):
    mutant: Mutant
    outcome: Outcome
    detail: str = ""


def run_all(mutants: Iterable[Mutant], jobs: int, timeout: int = TIMEOUT) -> Iterator[Result]:
    """In the order of the mutants."""
    for library in LIBRARIES:
        importlib.import_module(library)
    copies: SimpleQueue[SourceCopy] = SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="lily-mutants-") as directory, ThreadPoolExecutor(jobs) as pool:
        for number in range(jobs):
            copies.put(SourceCopy(Path(directory) / str(number)))
        yield from pool.map(lambda mutant: _run_in(copies, mutant, timeout), mutants)


def _run_in(copies: "SimpleQueue[SourceCopy]", mutant: Mutant, timeout: int) -> Result:
    copy = copies.get()
    try:
        with copy.with_fault(mutant):
            code, failed = _exit_code(copy.root, mutant.tests, timeout)
        result = _judged(mutant, code, failed)
    except Stale as error:
        return Result(mutant, "stale", str(error))
    else:
        if result.outcome == "noticed" and not _passes(copy, failed, timeout):
            return Result(mutant, "broken", f"{failed} fails without the fault too")
        return result
    finally:
        copies.put(copy)


_passing: dict[str, bool] = {}  # by test: whether it passes here without a fault


def _passes(copy: SourceCopy, test: str, timeout: int) -> bool:
    """A test that fails here anyway has noticed nothing."""
    alone = test.removesuffix(TIMED_OUT)
    if alone not in _passing:
        _passing[alone] = _exit_code(copy.root, [alone], timeout)[0] == pytest.ExitCode.OK
    return _passing[alone]


def _judged(mutant: Mutant, code: int, failed: str) -> Result:
    if code in {pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED}:  # interrupted: a module no longer imports
        return Result(mutant, "noticed", f"by {failed}")
    if code == pytest.ExitCode.OK:
        return Result(mutant, "survived")
    return Result(mutant, "broken", f"pytest ended with {code}")


class FirstFailure:
    """A plug-in of pytest that keeps the first test, or the first module, that failed. One that took too long is named
    as such: on a busy machine that need not be the fault."""

    name = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._keep(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._keep(report)

    def _keep(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        if report.failed and not self.name:
            self.name = report.nodeid + (TIMED_OUT if "from pytest-timeout" in report.longreprtext else "")


def _exit_code(source: Path, tests: Iterable[str], timeout: int) -> tuple[int, str]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        failure = FirstFailure()
        code = _tested(source, tests, timeout, failure)
        os.write(writing, failure.name.encode())
        os._exit(code)
    os.close(writing)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with os.fdopen(reading) as failed:
        return code, failed.read()


def _tested(source: Path, tests: Iterable[str], timeout: int, failure: FirstFailure) -> int:
    """In the child. Nothing of it is shown: that a test fails is what is expected."""
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    os.chdir(ROOT)
    sys.path.insert(0, str(source))
    os.environ["PYTHONPATH"] = str(source)  # for what the tests start
    os.environ["HYPOTHESIS_TESTS_PROFILE"] = "mutants"
    options = [
        "-x",
        "-q",
        "-p",
        "no:cacheprovider",
        "--hypothesis-seed=1",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",  # of plug-ins that were imported before the fork
        f"--timeout={timeout}",
    ]
    try:
        return int(pytest.main([*options, "-m", "not campaign", *tests], plugins=[failure]))
    except BaseException:  # noqa: BLE001 - the child must not return into the loop of its parent
        return int(pytest.ExitCode.INTERNAL_ERROR)
