"""`lily demo`: a stack, a story, and nothing left behind."""

# ruff: noqa: PLC0415 (the stack and the client are imported when it runs: `lily --help` need not pay for them)

from typing import TYPE_CHECKING, Annotated

import typer

from lily.cli.answer import print_json
from lily.cli.jars import fetch_jars
from lily.cli.options import AnswerFormat, DataDir, Format, read_settings
from lily.model.errors import LilyError

if TYPE_CHECKING:
    from lily.cli.demo.scene import Report
    from lily.cli.demo.stage import Stage
    from lily.cli.demo.telling import Telling


def demo(
    keep: Annotated[bool, typer.Option("--keep", help="Leave the stack running, and say how to stop it.")] = False,
    port: Annotated[
        int | None, typer.Option("--port", help="Where the API listens; a free one by default.", show_default=False)
    ] = None,
    data_dir: DataDir = None,
    answer: AnswerFormat = Format.text,
) -> None:
    """Start a stack of its own, play the use cases against it with measured latencies, and stop it.

    Exits non-zero if a step fails. Its files are temporary unless --data-dir names a place for them.
    """
    from lily.cli.demo import stage
    from lily.cli.demo.telling import Telling

    to_stderr = answer is Format.json
    telling = Telling(to_stderr=to_stderr)
    with stage.data_dir(data_dir, keep=keep) as directory:
        settings = stage.settings_for(read_settings(directory, port), port)
        fetch_jars(settings)
        telling.title("Starting Kafka, PostgreSQL, the Spark pipeline, the worker and the API")
        with stage.stack(settings, keep=keep, to_stderr=to_stderr) as running:
            report = _play(running, telling)
            if answer is Format.json:
                print_json(report.as_dict())
            if not report.ok:
                telling.say("\nThe demo failed. Its logs stay if you name a place: lily demo --data-dir DIRECTORY")
                raise typer.Exit(1)
    telling.farewell(running, keep=keep)


def _play(running: "Stage", telling: "Telling") -> "Report":
    """Step by step; what follows a failed step would only fail with it."""
    from lily.cli.demo.columns import CHAPTER
    from lily.cli.demo.lineage import LINEAGE
    from lily.cli.demo.owners import OWNERS
    from lily.cli.demo.scene import Report, Scene
    from lily.cli.demo.stage import lag_of
    from lily.cli.demo.story import STORY
    from lily.client import Lily

    telling.title(f"The story, against {running.url}")
    with Lily(running.url, running.token) as lily:
        scene = Scene(lily, lambda: lag_of(running.data_dir), shows_progress=telling.console.is_terminal)
        report = Report(running.start_seconds)
        for step in (*STORY, *CHAPTER, *LINEAGE, *OWNERS):
            try:
                told = step.play(scene)
            except LilyError as error:
                telling.failure(step, str(error))
                report.failed(step, str(error))
                return report
            telling.step(told)
            report.passed(step, told)
        telling.summary(running.start_seconds, scene.measured)
    return report
