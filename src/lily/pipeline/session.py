"""The Spark session, sized for the machine at hand unless the settings point to a cluster."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from lily.model.errors import Terminal
from lily.settings import Settings
from lily.store.lake.catalog import is_s3, spark_options, spark_secrets, warehouse

NICENESS = "LILY_NICENESS"
_defining = threading.Lock()


def open_session(settings: Settings) -> SparkSession:
    # Spark starts Python by name; without this it would take whichever is first on the PATH.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.appName("lily").master(settings.spark_master)
    for key, value in _options(settings).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("WARN")
    for key, value in spark_secrets(settings).items():
        session.conf.set(key, value)
    return session


def require_alive(spark: SparkSession) -> None:
    """Raises Terminal if Spark has given up, as it does when its cluster is gone for long: no query can run then."""
    if spark.sparkContext._jsc.sc().isStopped():  # noqa: SLF001 - the library has no other way to ask
        raise Terminal("Spark has stopped; the supervisor starts the pipeline again. Is its cluster running?")


@contextmanager
def worker_niceness(spark: SparkSession, niceness: int) -> Iterator[None]:
    """Functions that are handed to Spark meanwhile run in Python processes of this niceness.

    Spark keeps apart the Python processes of functions that were defined with different environments, and forks each
    kind from a daemon of its own, which heeds the variable (`daemon.py`). The environment belongs to the context, so
    only one thread at a time may define functions.
    """
    with _defining:
        environment: dict[str, str] = spark.sparkContext.environment
        environment[NICENESS] = str(niceness)
        try:
            yield
        finally:
            del environment[NICENESS]


def use_pool(spark: SparkSession, name: str) -> None:
    """What this thread starts from now on is scheduled in the named pool."""
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
        # A small heap that is mostly short-lived rows: the serial collector holds the least memory for it.
        "spark.driver.extraJavaOptions": "-XX:+UseSerialGC -XX:MaxMetaspaceSize=256m -XX:ReservedCodeCacheSize=128m",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": str(settings.lake.writers),
        "spark.sql.adaptive.enabled": "false",  # replans between stages; a micro-batch has one
        "spark.sql.execution.arrow.maxRecordsPerBatch": "5000",
        "spark.sql.execution.arrow.maxBytesPerBatch": str(8 << 20),
        "spark.sql.streaming.minBatchesToRetain": "2",
        "spark.sql.streaming.numRecentProgressUpdates": "5",
        "spark.python.daemon.module": "lily.pipeline.python_daemon",
        "spark.sql.session.timeZone": "UTC",
    }
    if settings.spark_master.startswith("local"):
        options |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return options | settings.spark_options


def _pools(scratch: Path) -> Path:
    """The hot lane's tasks go first whenever a slot is free; a running task is never interrupted."""
    pools = scratch / "pools.xml"
    pools.write_text(
        "<allocations>"
        '<pool name="hot"><schedulingMode>FIFO</schedulingMode><weight>100</weight><minShare>2</minShare></pool>'
        '<pool name="lake"><schedulingMode>FIFO</schedulingMode><weight>1</weight><minShare>0</minShare></pool>'
        "</allocations>"
    )
    return pools


def _jars(settings: Settings) -> list[Path]:
    jars = _jars_of("spark", settings.jars_dir, "Spark's jars are missing. Fetch them with: lily jars")
    if is_s3(warehouse(settings)):
        missing = (
            "LILY_WAREHOUSE is an object store, and the jars for it are missing. Fetch them with: lily jars --with s3"
        )
        jars += _jars_of("s3", settings.jars_dir, missing)
    return jars


def _jars_of(class_path: str, jars_dir: Path | None, missing: str) -> list[Path]:
    jars = sorted((jars_dir / class_path).glob("*.jar")) if jars_dir else []
    if not jars:
        raise Terminal(f"{missing}, and point LILY_JARS_DIR at the directory that it names.")
    return jars
