"""Assertions about the quality of data, from the facet `dataQualityAssertions` of the datasets that a run read.

One that failed becomes an incident of its run. One that holds resolves the incidents of earlier runs: those of the same
job, dataset, assertion, column and name. Two tests of one kind on one column differ by their names, or by their
parameters if the producer names neither.
"""

import hashlib
from functools import partial
from typing import Any, Final, NamedTuple

import orjson

from lily.incidents import IncidentStatement, SeriesPassed, Severity, content_id
from lily.incidents.statements import MAX_TITLE
from lily.intake.openlineage.asset_collector import AssetCollector
from lily.intake.openlineage.facet_reader import FacetReader
from lily.intake.openlineage.facets import Json, objects
from lily.model.values import MAX_NAME, Checker

SOURCE = "openlineage"
MAX_CHECKS = 5_000  # of one event: each becomes one record in the log
MAX_VALUE = 2_000  # characters of a value that is shown with an incident
_TOLD = ("name", "description", "expected", "actual")
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
    name: str = ""
    parameters: str = ""  # what distinguishes it from others of its kind if it has no name of its own
    details: str = ""

    @property
    def series(self) -> str:
        """Names the assertion over all runs, in a fixed length. One without a name and parameters has the series that
        all had before names counted: incidents of that time are stored with it."""
        identity = [part for part in (self.name, self.parameters) if part]
        parts = (self.job, self.dataset, self.assertion, self.column, *identity)
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
            title=f"{self._label} failed on {about}"[:MAX_TITLE],
            description=f"In the run {self.run} of {self.job}{self.details}",
            kind="assertion",
            assets=(self.asset_id,),
            by=by,
            series=self.series,
        )

    @property
    def _label(self) -> str:
        return f"{self.assertion} ({self.name})" if self.name not in {"", self.assertion} else self.assertion

    def without_name(self) -> "Check":
        """As it was known before names counted."""
        return self._replace(name="", parameters="", details="")


class Checks:
    """Collects the assertions of one event."""

    def __init__(self, collector: AssetCollector) -> None:
        self._collector = collector
        self.found: list[Check] = []

    def stated(self) -> list[Check]:
        """The assertions, and for incidents from before names counted: what shared a series then passes it if all of
        them hold."""
        before = {check.without_name().series: check.without_name() for check in self.found if check.success}
        failed = {check.without_name().series for check in self.found if not check.success}
        known = {check.series for check in self.found}
        return [*self.found, *(check for series, check in before.items() if series not in failed | known)]

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
        told = {key: _text(checker, given.get(key), f"{entity}.{key}") for key in _TOLD}
        asset_id, severity = self._collector.id(dataset), _severity(given.get("severity"))
        name = told["name"][:MAX_NAME]
        parameters = "" if name not in {"", assertion} else _parameters(checker, given.get("params"), entity)
        check = Check(job, run, dataset, asset_id, assertion, column, success, severity, name, parameters)
        return check._replace(details=_details(told))


def _text(checker: Checker, given: Any, entity: str) -> str:
    """Producers also write numbers where the specification has text."""
    if isinstance(given, int | float):
        return str(given)
    return (checker.text(given, entity) or "").strip() if isinstance(given, str) else ""


def _parameters(checker: Checker, given: Any, entity: str) -> str:
    """The same for the same parameters in any order."""
    if not isinstance(given, dict) or not given:
        return ""
    return orjson.dumps(checker.free(given, f"{entity}.params"), option=orjson.OPT_SORT_KEYS).decode()


def _details(told: Json) -> str:
    words = [f"{key} {told[key][:MAX_VALUE]}" for key in ("expected", "actual") if told[key]]
    found = f": {', '.join(words)}" if words else ""
    return f"{found}. {told['description'][:MAX_VALUE]}" if told["description"] else found


def _severity(given: Any) -> Severity | None:
    return _SEVERITIES.get(given.lower()) if isinstance(given, str) else None
