"""`lily recompute`: whether what is derived is what the graph says, worked out anew; and its repair.

Tags are worked out by Spark, attributes, which few tenants have rules for, in this process.
"""

# ruff: noqa: PLC0415 (Spark and the database driver are imported when it runs: `--help` need not pay for them)

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from lily.cli.access import as_owner
from lily.cli.answer import complain, print_json, say
from lily.cli.jars import fetch_jars
from lily.cli.options import AnswerFormat, DataDir, Format, read_settings
from lily.model.errors import Terminal, Transient

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from lily.pipeline.recompute.drift import Drift
    from lily.settings import Settings

MASTER = "local[2]"  # beside a running stack it leaves cores alone; LILY_SPARK_MASTER names a cluster

Tell = Callable[[str], None]


def recompute(
    *,
    tenant: Annotated[str, typer.Option(help="One tenant. Without it, all of them.", show_default=False)] = "",
    repair: Annotated[bool, typer.Option("--repair", help="Put right what differs, and look again.")] = False,
    data_dir: DataDir = None,
    answer: AnswerFormat = Format.text,
) -> None:
    """Work out all derived tags and attributes anew and compare them with the stored ones. Exit code 1 if they
    differ."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    settings = read_settings(data_dir)
    with as_owner(data_dir) as owner_url, _telling() as tell:
        _require(owner_url, tenant)
        try:
            with _session(settings, owner_url, tell) as spark:
                report = _look(spark, owner_url, tenant or None, tell, repair=repair)
            _look_at_attributes(report, owner_url, tenant or None, tell, repair=repair)
        except (Py4JError, PySparkException) as error:
            raise Transient(
                f"Spark gave up: {str(error).splitlines()[0]}. See `lily status`, and try again."
            ) from error
    if answer is Format.json:
        print_json(report)
    else:
        _describe(report)
    if report["left" if repair else "found"]:
        raise typer.Exit(1)


def _look(spark: "SparkSession", url: str, tenant: str | None, tell: Tell, *, repair: bool) -> dict[str, Any]:
    from lily.pipeline.recompute import drift

    found = drift.find_drift(spark, url, tenant, lambda step, count: tell(f"{step}: {count:,} more"))
    report = _report(found)
    if repair and found.any:
        drift.repair(url, found, lambda marked: tell(f"{marked:,} assets propagated anew"))
        again = drift.find_drift(spark, url, tenant, lambda step, count: tell(f"looking again, {step}: {count:,} more"))
        return report | {"left": again.any, "seconds": round(report["seconds"] + again.seconds, 1)}
    return report | ({"left": 0} if repair else {})


def _look_at_attributes(report: dict[str, Any], url: str, tenant: str | None, tell: Tell, *, repair: bool) -> None:
    """Adds to the report what rules have come to."""
    from lily.store.postgres.recompute.attribute_drift import find_attribute_drift, repair_attributes

    tell("what rules derived")
    found = find_attribute_drift(url, tenant)
    report["attributes"] = found.report()
    report["found"] += len(found.differences)
    if repair and found.differences:
        repair_attributes(url, found)
        report["left"] += len(find_attribute_drift(url, tenant).differences)


def _report(drift: "Drift") -> dict[str, Any]:
    return {
        "tenants": drift.tenants,
        "derived": drift.derived,
        **drift.counts,
        "found": drift.any,
        "behind": drift.behind,
        "examples": drift.examples(),
        "seconds": round(drift.seconds, 1),
    }


def _require(owner_url: str, tenant: str) -> None:
    from lily.store.postgres.access.administration import list_tenants

    if tenant and tenant not in {known["name"] for known in list_tenants(owner_url)}:
        raise Terminal(f"There is no tenant {tenant}. See `lily tenant list`.")


@contextmanager
def _session(settings: "Settings", database_url: str, tell: Tell) -> "Iterator[SparkSession]":
    from lily.pipeline.session import open_session

    quiet = {"spark.ui.showConsoleProgress": "false"}  # its bars would run over ours
    chosen = {"database_url": database_url, "jars_dir": fetch_jars(settings)}
    if "spark_master" not in settings.model_fields_set:
        chosen["spark_master"] = MASTER
    tell("Spark starts")
    spark = open_session(settings.model_copy(update=chosen | {"spark_options": quiet | settings.spark_options}))
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def _telling() -> Iterator[Tell]:
    """A line that changes, on a terminal; nothing elsewhere."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status("Recomputing") as status:
        yield lambda step: status.update(f"Recomputing · {step}")


def _describe(report: dict[str, Any]) -> None:
    attributes = report["attributes"]
    looked = (
        f"{report['derived']:,} derived tags of {report['tenants']} tenants and {attributes['derived']:,} attributes"
    )
    if not report["found"]:
        say(f"[green]✓[/] {looked}, recomputed in {report['seconds']} s: all are stored so.")
        return
    say(f"{looked}, recomputed in {report['seconds']} s.")
    for kind, part in (("Tags", report), ("Attributes", attributes)):
        say(f"{kind}: {part['missing']:,} missing, {part['surplus']:,} surplus, {part['different']:,} different.")
    for row in report["examples"]:
        say(f"  [dim]{row['problem']:<9} {row['kind']:<10} {row['tag']} on {row['id']} of {row['tenant']}[/]")
    for row in attributes["examples"]:
        say(f"  [dim]{row['problem']:<9} {row['rule']:<10} {row['attribute']} on {row['id']} of {row['tenant']}[/]")
    if "left" in report:
        say("[green]✓[/] Repaired." if not report["left"] else "")
        if report["left"]:
            complain(f"{report['left']:,} differ still. Is the pipeline behind? See `lily status`, then repeat it.")
    elif report["behind"]:
        complain("Propagation was behind: some may be on their way.\nLook again later, or put it right: --repair")
    else:
        complain("Put it right with: lily recompute --repair")
