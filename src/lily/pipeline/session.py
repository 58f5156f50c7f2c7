"""The Spark session, sized for one machine unless the settings name a cluster."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from lily.model.errors import Terminal
from lily.pipeline.rpc_secret import authentication, submit_arguments
from lily.settings import Settings
from lily.store.lake.catalog import is_s3, spark_options, spark_secrets, warehouse

NICENESS_VARIABLE = "LILY_NICENESS"
SUBMIT_VARIABLE = "PYSPARK_SUBMIT_ARGS"
HOT_NICENESS, LAKE_NICENESS = 0, 15  # a table is awaited, a plain column is not
# Checkpoints are scratch. By default each of their files has a checksum beside it and is renamed by an API that starts
# `readlink` where Hadoop's native library is missing: 20 processes for one event.
_CHEAP_CHECKPOINTS = {
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}
# It warns of each batch that begins later than the trigger says, and a query that collects events does (hot/pacing.py).
_TRIGGERS = "org.apache.spark.sql.execution.streaming.runtime.ProcessingTimeExecutor"
_environment_lock = threading.Lock()


def open_session(settings: Settings) -> SparkSession:
    # Otherwise Spark would start the first `python3` on the PATH.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ[SUBMIT_VARIABLE] = submit_arguments(settings, os.environ.get(SUBMIT_VARIABLE, ""))
    builder = SparkSession.builder.appName("lily").master(settings.spark_master)
    for key, value in _options(settings).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("WARN")
    _silence(session, _TRIGGERS)
    for key, value in spark_secrets(settings).items():
        session.conf.set(key, value)
    return session


def _silence(spark: SparkSession, logger: str) -> None:
    log4j = spark._jvm.org.apache.logging.log4j  # noqa: SLF001 - the only access to Java
    log4j.core.config.Configurator.setLevel(logger, log4j.Level.ERROR)


def require_alive(spark: SparkSession) -> None:
    """Raises Terminal if the Spark context has stopped, as it does when its cluster is unreachable for long."""
    if spark.sparkContext._jsc.sc().isStopped():  # noqa: SLF001 - there is no public way
        raise Terminal(
            "Spark has stopped; the supervisor restarts the pipeline. If this repeats, check the Spark cluster."
        )


@contextmanager
def worker_niceness(spark: SparkSession, niceness: int) -> Iterator[None]:
    """Functions that are passed to Spark in this context run in Python processes of this niceness.

    Spark does not share Python processes between functions with different environments: each environment has its own
    daemon, which reads the variable (`python_daemon.py`). The environment belongs to the Spark context, so only one
    thread at a time may change it.
    """
    with _environment_lock:
        environment: dict[str, str] = spark.sparkContext.environment
        environment[NICENESS_VARIABLE] = str(niceness)
        try:
            yield
        finally:
            del environment[NICENESS_VARIABLE]


def use_pool(spark: SparkSession, name: str) -> None:
    """Jobs that this thread starts from now on are scheduled in the named pool."""
    spark.sparkContext.setLocalProperty("spark.scheduler.pool", name)


def _options(settings: Settings) -> dict[str, str]:
    scratch = settings.data_dir.resolve() / "spark"
    scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
    options = {
        "spark.jars": ",".join(map(str, _jars(settings))),
        "spark.local.dir": str(scratch / "tmp"),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.scheduler.mode": "FAIR",
        "spark.scheduler.allocation.file": str(_pools(scratch)),
        "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        **spark_options(settings),
        "spark.driver.memory": settings.pipeline.driver_memory,
        # For a small heap of mostly short-lived rows, the serial collector needs the least memory.
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:MaxMetaspaceSize=256m -XX:ReservedCodeCacheSize=128m",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(settings.lake.writers),
        "spark.sql.adaptive.enabled": "false",  # it replans between stages, and a micro-batch has only one
        "spark.sql.execution.arrow.maxRecordsPerBatch": "5000",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(8 << 20),
        "spark.sql.streaming.minBatchesToRetain": "2",
        **_CHEAP_CHECKPOINTS,
        "spark.sql.streaming.numRecentProgressUpdates": "5",
        "spark.python.daemon.module": "lily.pipeline.python_daemon",
        "spark.sql.session.timeZone": "UTC",
    }
    if settings.spark_master.startswith("local"):
        options |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return options | authentication(settings) | settings.spark_options


def _pools(scratch: Path) -> Path:
    """A free slot goes to the hot lane's tasks first; a running task is never interrupted."""
    pools = scratch / "pools.xml"
    pools.write_text(
        "<allocations>"
        '<pool name="hot"><schedulingMode>FIFO</schedulingMode><weight>100</weight><minShare>2</minShare></pool>'
        '<pool name="lineage"><schedulingMode>FIFO</schedulingMode><weight>20</weight><minShare>1</minShare></pool>'
        '<pool name="quality"><schedulingMode>FIFO</schedulingMode><weight>5</weight><minShare>1</minShare></pool>'
        '<pool name="lake"><schedulingMode>FIFO</schedulingMode><weight>1</weight><minShare>0</minShare></pool>'
        "</allocations>"
    )
    return pools


def _jars(settings: Settings) -> list[Path]:
    jars = _jars_of("spark", settings.jars_dir, "Spark's jars are missing. Fetch them with: lily jars")
    if is_s3(warehouse(settings)):
        missing = "LILY_WAREHOUSE is an object store, and its jars are missing. Fetch them with: lily jars --with s3"
        jars += _jars_of("s3", settings.jars_dir, missing)
    return jars


def _jars_of(class_path: str, jars_dir: Path | None, missing: str) -> list[Path]:
    jars = sorted((jars_dir / class_path).glob("*.jar")) if jars_dir else []
    if not jars:
        raise Terminal(f"{missing}, and set LILY_JARS_DIR to the directory that it prints.")
    return jars
