"""Assertions about the quality of data, from the facet `dataQualityAssertions` of the datasets that a run read.

One that failed becomes an incident of its run. One that holds resolves the incidents of earlier runs: those of the same
job, dataset, assertion and column.
"""

import hashlib
from functools import partial
from typing import Any, Final, NamedTuple

from lily.incidents import IncidentStatement, SeriesPassed, Severity, content_id
from lily.incidents.statements import MAX_TITLE
from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.facet_reader import FacetReader
from lily.intake.openlineage.facets import Json, objects
from lily.model.values import MAX_NAME, Checker

SOURCE = "openlineage"
MAX_CHECKS = 5_000  # of one event: each becomes one record in the log
_FACET = "dataQualityAssertions"
_HOLDERS = ("inputFacets", "facets")  # the specification's place, and where some producers put it
_SEVERITIES: Final[dict[str, Severity]] = {"error": "critical", "warn": "warning", "warning": "warning", "info": "info"}


class Check(NamedTuple):
    """One assertion of one run."""

    job: str
    run: str
    dataset: str  # qualified names
    asset_id: str
    assertion: str
    column: str
    success: bool
    severity: Severity | None

    @property
    def series(self) -> str:
        """Names the assertion over all runs, in a fixed length."""
        parts = (self.job, self.dataset, self.assertion, self.column)
        return hashlib.sha256("\x00".join(parts).encode()).hexdigest()[:40]

    def event_id(self, tenant: str, time: str) -> str:
        return content_id(tenant, SOURCE, f"{self.series}/{self.run}/{time}/{self.success}".encode())

    def statement(self, by: str) -> IncidentStatement | SeriesPassed:
        if self.success:
            return SeriesPassed(SOURCE, self.series, by)
        about = f"{self.dataset}.{self.column}" if self.column else self.dataset
        return IncidentStatement(
            SOURCE,
            f"{self.series}/{self.run}",
            "open",
            self.severity,
            title=f"{self.assertion} failed on {about}"[:MAX_TITLE],
            description=f"In the run {self.run} of {self.job}",
            kind="assertion",
            assets=(self.asset_id,),
            by=by,
            series=self.series,
        )


class Checks:
    """Collects the assertions of one event."""

    def __init__(self, collector: AssetCollector) -> None:
        self._collector = collector
        self.found: list[Check] = []

    def gather(self, event: Json, job: str | None, run: str | None) -> None:
        if job is None or run is None:
            return
        inputs = event.get("inputs")
        for at, dataset in enumerate(inputs if isinstance(inputs, list) else ()):
            named = self._collector.dataset_name(Checker(), dataset, "") if isinstance(dataset, dict) else None
            if named is None:
                continue  # the event is refused for it
            parse = partial(self._parse, place=(job, run, named.qualified_name))
            for holder in _HOLDERS:
                facets = FacetReader(self._collector.warnings, dataset, f"inputs[{at}]", holder)
                self.found += facets.read(_FACET, parse) or ()
        if len(self.found) > MAX_CHECKS:
            described = f"one event may have at most {MAX_CHECKS} assertions; split it"
            self._collector.checker.refuse("TOO_LONG", described, "inputs")

    def _parse(self, checker: Checker, facet: Json, where: str, place: tuple[str, str, str]) -> list[Check]:
        where = f"{where}.assertions"
        given = objects(checker, facet.get("assertions"), where)
        found = [self._check(checker, assertion, place, where) for assertion in given]
        return [check for check in found if check is not None]

    def _check(self, checker: Checker, given: Json, place: tuple[str, str, str], entity: str) -> Check | None:
        job, run, dataset = place
        assertion = checker.name(given.get("assertion"), f"{entity}.assertion")
        stated = given.get("column")
        column = "" if stated is None else checker.name(stated, f"{entity}.column", MAX_NAME)
        success = given.get("success")
        if success is None:
            return None  # it was not evaluated
        if not isinstance(success, bool):
            checker.refuse("INVALID_TYPE", f"{entity}.success must be true or false", f"{entity}.success")
        if assertion is None or column is None or not isinstance(success, bool):
            return None
        asset_id, severity = self._collector.id(dataset), _severity(given.get("severity"))
        return Check(job, run, dataset, asset_id, assertion, column, success, severity)


def _severity(given: Any) -> Severity | None:
    return _SEVERITIES.get(given.lower()) if isinstance(given, str) else None
