"""`lily api`, `lily pipeline`, `lily worker`: the single parts, for a real deployment. `lily up` runs the same."""

# ruff: noqa: PLC0415 (the application is imported when it runs: Spark and the web framework take seconds to load)

from typing import Annotated

import typer

from lily.cli.options import AnswerFormat, DataDir, Format, read_settings


def api(
    port: Annotated[
        int | None, typer.Option(help="Where it listens (LILY_PORT; default 8585).", show_default=False)
    ] = None,
    data_dir: DataDir = None,
    answer: AnswerFormat = Format.text,  # noqa: ARG001 (every command takes it; errors heed it)
) -> None:
    """Serve the API. Needs LILY_KAFKA_BOOTSTRAP and LILY_DATABASE_URL."""
    from lily.app import run_api

    run_api(read_settings(data_dir, port))


def pipeline(
    queries: Annotated[str, typer.Option(help="Which streaming queries, separated by commas; all by default.")] = "",
    data_dir: DataDir = None,
    answer: AnswerFormat = Format.text,  # noqa: ARG001 (every command takes it; errors heed it)
) -> None:
    """Run the Spark pipeline. Needs LILY_KAFKA_BOOTSTRAP and LILY_DATABASE_URL."""
    from lily.app import QUERIES, run_pipeline

    names = tuple(name.strip() for name in queries.split(",") if name.strip())
    run_pipeline(read_settings(data_dir), names or QUERIES)


def worker(
    only: Annotated[
        str, typer.Option(help="Which residents (relay, propagation, feed), separated by commas; all by default.")
    ] = "",
    data_dir: DataDir = None,
    answer: AnswerFormat = Format.text,  # noqa: ARG001 (every command takes it; errors heed it)
) -> None:
    """Publish committed changes and run the reactions to them. Needs LILY_KAFKA_BOOTSTRAP and LILY_DATABASE_URL."""
    from lily.app import run_worker

    run_worker(read_settings(data_dir), tuple(name.strip() for name in only.split(",") if name.strip()))
