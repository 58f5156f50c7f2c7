"""The processes of a stack that can be killed, and how each is found. What is not there yet is None."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Final

import psutil  # type: ignore[import-untyped]
import psycopg

from tests.faults.own_stack import OwnStack

Find = Callable[[OwnStack], int | None]


def driver(stack: OwnStack) -> int | None:
    """Only once it is warm: killed again and again while it starts, it would never work and nothing would be tested."""
    pipeline = stack.part("pipeline")
    return pipeline.running.pid if pipeline.state == "healthy" else None


def jvm(stack: OwnStack) -> int | None:
    return next(iter(_children(driver(stack), "java")), None)


def spark_daemon(stack: OwnStack) -> int | None:
    """The process that Spark forks its Python workers from; it works before the pipeline is warm."""
    return next((process.pid for process in _pythons(stack) if _parent(process) == "java"), None)


def spark_worker(stack: OwnStack) -> int | None:
    """Spark goes on using a worker whose daemon is dead, and starts no new daemon as long as it has one."""
    return next((process.pid for process in _pythons(stack) if _parent(process) != "java"), None)


def backend(stack: OwnStack) -> int | None:
    """PostgreSQL's process for a connection of the pipeline. Its death makes PostgreSQL start all over."""
    try:
        with psycopg.connect(stack.database, connect_timeout=2) as connection:
            found = connection.execute(
                "select pid from pg_stat_activity where application_name = 'lily-pipeline' order by backend_start desc"
            ).fetchone()
    except psycopg.OperationalError:
        return None
    return int(found[0]) if found else None


def _part(name: str) -> Find:
    return lambda stack: stack.part(name).running.pid or None


VICTIMS: Final[Mapping[str, Find]] = {
    "pipeline driver": driver,
    "pipeline JVM": jvm,
    "Spark daemon": spark_daemon,
    "Spark worker": spark_worker,
    "API": _part("api"),
    "Kafka": _part("kafka"),
    "PostgreSQL": _part("postgres"),
    "PostgreSQL backend": backend,
    "worker": _part("worker"),
}
# The supervised part whose new process shows that the stack has recovered from a kill; the others leave their part
# alive, and only its work shows it.
PART_OF: Final[Mapping[str, str]] = {
    "pipeline driver": "pipeline",
    "pipeline JVM": "pipeline",
    "API": "api",
    "Kafka": "kafka",
    "PostgreSQL": "postgres",
    "worker": "worker",
}


def _children(pid: int | None, name: str) -> list[int]:
    try:
        children = psutil.Process(pid).children() if pid else []
        return [child.pid for child in children if child.name().startswith(name)]
    except psutil.NoSuchProcess:
        return []


def _pythons(stack: OwnStack) -> Iterator[psutil.Process]:
    """The Python processes of Spark's side, orphans too: they are of the session that the driver leads."""
    session = stack.part("pipeline").running.pid
    for process in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            if session and os.getsid(process.pid) == session and "lily.pipeline.python_daemon" in process.cmdline():
                yield process


def _parent(process: psutil.Process) -> str:
    try:
        parent = process.parent()
        return parent.name() if parent else ""
    except psutil.NoSuchProcess:
        return ""
