"""Runs the queries of a process: opens Spark, keeps each query running, and reports whether the process is ready."""

import shutil
import threading
import uuid
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from lily.gate import wait_for_engines
from lily.observe.probes import serve_probes
from lily.pipeline.hot.query import HotQuery, LineageQuery
from lily.pipeline.lake.query import LakeQuery
from lily.pipeline.metrics import PipelineMetrics
from lily.pipeline.quality.query import QualityQuery
from lily.pipeline.restarts import keep_running, keep_running_in_thread
from lily.pipeline.session import open_session, require_alive, use_pool
from lily.settings import Settings

Run = Callable[[SparkSession, Path], None]  # with a checkpoint that is new


class Runner:
    """Runs until `stop` is set. A failing query is started again; a lost JVM ends the process for its supervisor."""

    def __init__(self, settings: Settings, queries: Collection[str], stop: threading.Event) -> None:
        self._settings, self._queries, self._stop = settings, queries, stop
        self._metrics = PipelineMetrics()
        self._hot = HotQuery(settings, stop, self._metrics)
        self._lineage = LineageQuery(settings, stop, self._metrics)
        self._lake = LakeQuery(settings, stop, self._metrics)
        self._quality = QualityQuery(settings, stop, self._metrics)
        self._started = threading.Event()

    def run(self) -> None:
        if self._settings.metrics_port:
            serve_probes(self._settings.host, self._settings.metrics_port, self._metrics.registry, self._is_ready)
        spark = open_session(self._settings)
        wait_for_engines(self._stop)
        checkpoints = self._fresh_checkpoints()
        self._started.set()
        runs: dict[str, Run] = {"hot": self._hot.run, "lineage": self._lineage.run}  # one to start and to stop
        runs = runs if "hot" in self._queries else {}
        runs |= {"lake": self._lake.run} if "lake" in self._queries else {}
        runs |= {"quality": self._quality.run} if "quality" in self._queries else {}
        first, *others = runs
        beside = [
            threading.Thread(target=self._when_hot_is_ready, args=(name, runs[name], spark, checkpoints), daemon=True)
            for name in others
        ]
        for thread in beside:
            thread.start()
        # In this thread: the loss of the JVM ends the process.
        keep_running(first, lambda: _run(first, runs[first], spark, checkpoints), self._stop, self._metrics)
        for thread in beside:
            thread.join(timeout=15)
        spark.stop()

    def _is_ready(self) -> bool:
        hot = (self._hot.ready.is_set() and self._lineage.ready.is_set()) or "hot" not in self._queries
        return self._started.is_set() and hot

    def _when_hot_is_ready(self, name: str, run: Run, spark: SparkSession, checkpoints: Path) -> None:
        """The other queries wait, so that `lily up` is ready as soon as possible."""
        while not self._stop.is_set():
            if "hot" not in self._queries or self._hot.ready.wait(1):
                starting = partial(_run, name, run, spark, checkpoints)
                keep_running_in_thread(name, starting, self._stop, self._metrics).join()

    def _fresh_checkpoints(self) -> Path:
        """Progress is kept with the data, in PostgreSQL and in the lake. Spark's checkpoints are scratch: one never
        outlives a start, so one of an older version is never read."""
        checkpoints = self._settings.data_dir.resolve() / "spark" / f"checkpoints-{'-'.join(sorted(self._queries))}"
        shutil.rmtree(checkpoints, ignore_errors=True)
        return checkpoints


def _run(name: str, run: Run, spark: SparkSession, checkpoints: Path) -> None:
    require_alive(spark)
    use_pool(spark, name)
    run(spark, checkpoints / uuid.uuid4().hex)
