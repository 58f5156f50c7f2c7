"""`lily recompute`: compares stored derived tags and attributes, and what is at risk, with a full recomputation, and
repairs them.

Spark recomputes the tags. Attributes, for which few tenants have rules, and what is at risk are recomputed in this
process.
"""

# ruff: noqa: PLC0415 (Spark and the database driver are imported when it runs: `--help` need not pay for them)

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from lily.cli.access.tenants import owner_database, require_tenant
from lily.cli.deployment.jars import fetch_jars
from lily.cli.hints import command
from lily.cli.options import DataDir, OutputFormat, flag, option, read_settings
from lily.cli.output import Format, Progress, print_error, print_json, print_text, progress_line
from lily.model.errors import Transient

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

    from lily.pipeline.recompute.drift import Drift
    from lily.settings import Settings
    from lily.store.postgres.recompute.attribute_drift import AttributeDrift
    from lily.store.postgres.recompute.risk_drift import RiskDrift

Found = TypeVar("Found", "AttributeDrift", "RiskDrift")
MASTER = "local[2]"  # leaves cores to a stack on the same machine; LILY_SPARK_MASTER selects a cluster


def recompute(
    *,
    tenant: Annotated[str, option("--tenant", "NAME", "Check only this tenant.", "all tenants")] = "",
    repair: Annotated[bool, flag("--repair", "Repair the differences, then check again.")] = False,
    data_dir: DataDir = None,
    output: OutputFormat = Format.text,
) -> None:
    """Recompute all derived tags and attributes and what is at risk, and compare them with what is stored.

    The exit code is 1 if there are differences, with --repair if any remain.
    """
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    settings = read_settings(data_dir)
    with owner_database(data_dir) as owner_url, progress_line("Recomputing") as progress:
        if tenant:
            require_tenant(owner_url, tenant)
        try:
            with _session(settings, owner_url, progress) as spark:
                report = _check_tags(spark, owner_url, tenant or None, progress, repair=repair)
            _check_attributes(report, owner_url, tenant or None, progress, repair=repair)
            _check_risks(report, owner_url, tenant or None, progress, repair=repair)
        except (Py4JError, PySparkException) as error:
            raise Transient(
                f"The Spark job failed: {str(error).splitlines()[0]}. Check `lily status`, then try again."
            ) from error
    if output is Format.json:
        print_json(report)
    else:
        _print(report, settings.data_dir)
    if report["left" if repair else "found"]:
        raise typer.Exit(1)


def _check_tags(
    spark: "SparkSession", url: str, tenant: str | None, progress: Progress, *, repair: bool
) -> dict[str, Any]:
    from lily.pipeline.recompute import drift

    found = drift.find_drift(spark, url, tenant, lambda step, count: progress(f"{step}: {count:,} more"))
    report = _report(found)
    if repair and found.any:
        drift.repair(url, found, lambda marked: progress(f"{marked:,} assets propagated again"))
        again = drift.find_drift(
            spark, url, tenant, lambda step, count: progress(f"checking again, {step}: {count:,} more")
        )
        return report | {"left": again.any, "seconds": round(report["seconds"] + again.seconds, 1)}
    return report | ({"left": 0} if repair else {})


def _check_attributes(
    report: dict[str, Any], url: str, tenant: str | None, progress: Progress, *, repair: bool
) -> None:
    from lily.store.postgres.recompute.attribute_drift import find_attribute_drift, repair_attributes

    progress("derived attributes")
    _compare(
        report, "attributes", lambda: find_attribute_drift(url, tenant), repair_attributes, url if repair else None
    )


def _check_risks(report: dict[str, Any], url: str, tenant: str | None, progress: Progress, *, repair: bool) -> None:
    from lily.store.postgres.recompute.risk_drift import find_risk_drift, repair_risks

    progress("what is at risk")
    _compare(report, "at_risk", lambda: find_risk_drift(url, tenant), repair_risks, url if repair else None)


def _compare(
    report: dict[str, Any],
    name: str,
    find: "Callable[[], Found]",
    repair: "Callable[[str, Found], None]",
    repaired: str | None,
) -> None:
    """Adds what is found to the report, and repairs it in the database `repaired`, if given."""
    found = find()
    report[name] = found.report()
    report["found"] += len(found.differences)
    if repaired and found.differences:
        repair(repaired, found)
        report["left"] += len(find().differences)


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


@contextmanager
def _session(settings: "Settings", database_url: str, progress: Progress) -> "Iterator[SparkSession]":
    from lily.pipeline.session import open_session

    quiet = {"spark.ui.showConsoleProgress": "false"}  # Spark's progress bars would overwrite ours
    chosen = {"database_url": database_url, "jars_dir": fetch_jars(settings)}
    if "spark_master" not in settings.model_fields_set:
        chosen["spark_master"] = MASTER
    progress("starting Spark")
    spark = open_session(settings.model_copy(update=chosen | {"spark_options": quiet | settings.spark_options}))
    try:
        yield spark
    finally:
        spark.stop()


def _print(report: dict[str, Any], data_dir: "Path") -> None:
    attributes, at_risk = report["attributes"], report["at_risk"]
    checked = (
        f"Recomputed {report['derived']:,} derived tags, {attributes['derived']:,} derived attributes and "
        f"{at_risk['assets']:,} assets at risk in {report['seconds']} s (tenants: {report['tenants']})"
    )
    if not report["found"]:
        print_text(f"[green]✓[/] {checked}: no differences.")
        return
    print_text(f"{checked}.")
    for kind, part in (("Tags", report), ("Attributes", attributes)):
        print_text(
            f"{kind}: {part['missing']:,} missing, {part['surplus']:,} surplus, {part['different']:,} different."
        )
    print_text(f"At risk: {at_risk['missing']:,} missing, {at_risk['surplus']:,} surplus.")
    for row in report["examples"]:
        print_text(f"  [dim]{row['problem']:<9} {row['kind']:<10} {row['tag']} on {row['id']} of {row['tenant']}[/]")
    for row in attributes["examples"]:
        print_text(
            f"  [dim]{row['problem']:<9} {row['rule']:<10} {row['attribute']} on {row['id']} of {row['tenant']}[/]"
        )
    for row in at_risk["examples"]:
        print_text(f"  [dim]{row['problem']:<9} {row['id']} by the incident {row['incident']} of {row['tenant']}[/]")
    _print_next_step(report, command("status", data_dir), command("recompute --repair", data_dir))


def _print_next_step(report: dict[str, Any], status: str, repair: str) -> None:
    if report.get("left"):
        print_error(
            f"{report['left']:,} differences remain.\n"
            f"The pipeline may be behind: check `{status}`, then repeat `{repair}`."
        )
    elif "left" in report:
        print_text("[green]✓[/] All differences are repaired.")
    elif report["behind"]:
        print_error(
            f"Propagation is behind, so some of these differences may resolve themselves.\n"
            f"Check again later, or repair them now with `{repair}`."
        )
    else:
        print_error(f"Repair them with `{repair}`.")
