"""`lily api`, `lily pipeline` and `lily worker`: single parts, for real deployments. `lily up` runs the same code."""

# ruff: noqa: PLC0415 (the application is imported when it runs: Spark and the web framework take seconds to load)

from typing import Annotated

from lily.cli.options import DataDir, OutputFormat, Port, option, read_settings
from lily.cli.output import Format

Queries = Annotated[
    str, option("--queries", "NAME,...", "Run only these streaming queries, for example hot,lake.", "all")
]
Parts = Annotated[
    str,
    option(
        "--only",
        "NAME,...",
        "Run only these: relay, propagation, feed, enforcement, incidents, notifications, jobs.",
        "all",
    ),
]


def api(
    port: Port = None,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,  # noqa: ARG001 (every command takes it; errors use it)
) -> None:
    """Serve the API.

    Needs LILY_KAFKA_BOOTSTRAP and LILY_DATABASE_URL. Run as many as the load requires.
    """
    from lily.app import run_api

    run_api(read_settings(data_dir, port))


def pipeline(
    queries: Queries = "",
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,  # noqa: ARG001 (every command takes it; errors use it)
) -> None:
    """Run the Spark pipeline.

    Needs LILY_KAFKA_BOOTSTRAP and LILY_DATABASE_URL; LILY_SPARK_MASTER selects a cluster.
    """
    from lily.app import QUERIES, run_pipeline

    run_pipeline(read_settings(data_dir), _names(queries) or QUERIES)


def worker(
    only: Parts = "",
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,  # noqa: ARG001 (every command takes it; errors use it)
) -> None:
    """Run the worker, which publishes committed changes and runs the reactions to them.

    Needs LILY_KAFKA_BOOTSTRAP and LILY_DATABASE_URL.
    """
    from lily.app import run_worker

    run_worker(read_settings(data_dir), _names(only))


def _names(listed: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in listed.split(",") if name.strip())
