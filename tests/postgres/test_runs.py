"""Runs of jobs, as their events arrive and as they are read."""

from collections.abc import Callable
from typing import Any

import pytest

from lily.api.reads.runs import design, details, facets_at, summary
from lily.store.postgres.runs import merge
from lily.store.postgres.runs.reader import StoredRun, design_facets_of, find_runs, runs_of_job
from lily.store.postgres.sessions import Database
from tests.api_database import with_database
from tests.lineage_world import World
from tests.openlineage_words import dataset, run_event
from tests.postgres.migrated import Migrated

JOB = "job:airflow/dag.task"


class Runs:
    def __init__(self, url: str, world: World) -> None:
        self._url, self.world = url, world

    def send(self, state: str, at: str, run_id: str = "r1", *, run_facets: Any = None, **more: Any) -> None:
        run = {"runId": run_id, "facets": run_facets or {}}
        self.world.take(run_event(eventType=state, eventTime=f"2026-01-01T{at}:00Z", run=run, **more))

    def found(self, run_id: str = "r1") -> StoredRun:
        found = self.all_of(run_id)[0]
        assert isinstance(found, StoredRun)
        return found

    def all_of(self, run_id: str, job: str | None = None) -> list[StoredRun]:
        job_id = job and self.world.id_of(job)
        return list(self._read(lambda db: find_runs(db, self.world.tenant, run_id, job_id, limit=10)))

    def shown(self, run_id: str = "r1") -> dict[str, Any]:
        return summary(self.world.tenant, self.found(run_id))

    def listed(self, after: Any = None, limit: int = 10, tenant: str | None = None) -> list[str]:
        job = self.world.id_of(JOB)
        found = self._read(lambda db: runs_of_job(db, tenant or self.world.tenant, job, after=after, limit=limit))
        return [run.run for run in found]

    def without_run(self, at: str, **holder: Any) -> None:
        """An event about a job or a dataset."""
        kind = "JobEvent" if "job" in holder else "DatasetEvent"
        schema = f"https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/{kind}"
        self.world.take({"eventTime": f"2026-01-01T{at}:00Z", "producer": "x", "schemaURL": schema, **holder})

    def kept(self, name: str, tenant: str | None = None) -> dict[str, Any]:
        """The facets of events without a run."""
        asset = self.world.id_of(name)
        return dict(self._read(lambda db: design_facets_of(db, tenant or self.world.tenant, asset)))

    def _read(self, read: Callable[[Database], Any]) -> Any:
        return with_database(self._url, read)


@pytest.fixture
def runs(migrated: Migrated, make_world: Callable[[], World]) -> Runs:
    return Runs(migrated.url_of("lily_api"), make_world())


def test_a_run_has_a_state_and_times(runs: Runs) -> None:
    nominal = {"nominalTime": {"nominalStartTime": "2026-01-01T00:00:00Z"}}
    runs.send("START", "10:00", run_facets=nominal)
    assert (runs.shown()["state"], runs.shown()["ended_at"]) == ("START", None)
    runs.send("COMPLETE", "11:00")
    runs.send("OTHER", "12:00")
    shown = runs.shown()
    assert (shown["state"], shown["nominal_start"], shown["error"]) == ("COMPLETE", "2026-01-01T00:00:00Z", None)
    assert [shown[name][11:16] for name in ("started_at", "ended_at", "updated_at")] == ["10:00", "11:00", "12:00"]


def test_a_run_that_failed_shows_its_error_and_its_parents(runs: Runs) -> None:
    parent = {
        "run": {"runId": "p1"},
        "job": {"namespace": "airflow", "name": "dag"},
        "root": {"run": {"runId": "top"}, "job": {"namespace": "airflow", "name": "all"}},
    }
    error = {"message": "Table not found", "programmingLanguage": "SQL", "stackTrace": "at line 1"}
    runs.send("FAIL", "10:00", run_facets={"parent": parent, "errorMessage": error})
    shown = runs.shown()
    assert shown["error"] == {"message": "Table not found", "stack_trace": "at line 1"}
    dag, everything = "job:airflow/dag", "job:airflow/all"
    assert shown["parent"] == {"run_id": "p1", "job_id": runs.world.id_of(dag), "job": dag}
    assert shown["root"] == {"run_id": "top", "job_id": runs.world.id_of(everything), "job": everything}


@pytest.mark.parametrize("parent", [{"run": 7}, {"run": {"runId": 7}, "job": {}}, {}])
def test_a_parent_that_makes_no_sense_is_none(runs: Runs, parent: Any) -> None:
    runs.send("START", "10:00", run_facets={"parent": parent})
    assert (runs.shown()["parent"], runs.shown()["root"]) == (None, None)


def test_facets_of_all_events_are_kept_and_the_newest_wins(runs: Runs) -> None:
    runs.send(
        "COMPLETE", "11:00", run_facets={"mine": {"n": 2}}, outputs=[dataset("b", version={"datasetVersion": "1"})]
    )
    runs.send("START", "10:00", run_facets={"mine": {"n": 1}, "engine": {"name": "x"}}, inputs=[dataset("a")])
    shown = details(runs.found(), {}, denied=())
    assert shown["facets"] == {"mine": {"n": 2}, "engine": {"name": "x"}}
    (read,), (written,) = shown["inputs"], shown["outputs"]
    assert (read["metadata_id"], read["facets"]) == (runs.world.id_of("a"), {})
    assert written["facets"] == {"version": {"datasetVersion": "1"}}
    (hidden,) = details(runs.found(), {}, denied=[runs.world.id_of("b")])["outputs"]
    assert (hidden["redacted"], hidden["facets"]) == (True, {})


def test_the_runs_of_a_job_are_listed_newest_first_and_page_by_page(runs: Runs) -> None:
    for minute in range(5):
        runs.send("START", f"10:0{minute}", f"r{minute}")
    assert runs.listed() == ["r4", "r3", "r2", "r1", "r0"]
    assert runs.listed(limit=2) == ["r4", "r3"]
    last = runs.shown("r3")
    assert runs.listed(after=(last["updated_at"], last["run_id"]), limit=2) == ["r2", "r1"]
    runs.send("COMPLETE", "11:00", "r0")
    assert runs.listed(limit=2) == ["r0", "r4"]


def test_a_tenant_does_not_see_the_runs_of_another(runs: Runs, make_world: Callable[[], World]) -> None:
    runs.send("START", "10:00")
    assert runs.listed(tenant=make_world().tenant) == []


def test_only_the_newest_runs_of_a_job_are_kept(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merge, "KEPT_RUNS", 3)
    for minute in (4, 1, 0, 2, 3):
        runs.send("START", f"10:0{minute}", f"r{minute}")
    assert runs.listed() == ["r4", "r3", "r2"]


def test_facets_of_events_about_a_dataset_are_kept_and_the_newest_wins(
    runs: Runs, make_world: Callable[[], World]
) -> None:
    runs.without_run("11:00", dataset=dataset("a", version={"datasetVersion": "2"}))
    runs.without_run("10:00", dataset=dataset("a", version={"datasetVersion": "1"}, mine={"n": 1}, old={"n": 0}))
    runs.without_run("12:00", dataset=dataset("a", old={"_deleted": True}))
    shown = design(runs.kept("a"), {}, ())
    assert shown == {"facets": {"version": {"datasetVersion": "2"}, "mine": {"n": 1}}, "inputs": [], "outputs": []}
    assert runs.kept("a", make_world().tenant) == {}


def test_facets_of_events_about_a_job_are_kept_with_those_of_its_datasets(runs: Runs) -> None:
    job = {"namespace": "airflow", "name": "dag.task", "facets": {"sourceCode": {"language": "sql"}}}
    runs.without_run("10:00", job=job, outputs=[dataset("b", version={"datasetVersion": "1"})])
    kept, written = runs.kept(JOB), runs.world.id_of("b")
    assert design(kept, {}, ()) == {
        "facets": {"sourceCode": {"language": "sql"}},
        "inputs": [],
        "outputs": [
            {"metadata_id": written, "qualified_name": None, "facets": {"version": {"datasetVersion": "1"}}}
            | {"redacted": False}
        ],
    }
    assert design(kept, {}, [written])["outputs"][0]["facets"] == {}


def test_a_facet_of_a_run_that_is_deleted_is_not_shown(runs: Runs) -> None:
    runs.send("START", "10:00", run_facets={"mine": {"n": 1}, "nominalTime": {"nominalStartTime": "then"}})
    runs.send("COMPLETE", "11:00", run_facets={"mine": {"_deleted": True}, "nominalTime": {"_deleted": True}})
    assert facets_at(runs.found().facets, "run:") == {}
    assert runs.shown()["nominal_start"] is None


def test_a_job_that_sends_the_run_id_of_another_does_not_hide_its_run(runs: Runs) -> None:
    runs.send("COMPLETE", "10:00")
    for at in ("09:00", "23:00"):  # earlier and later, by its own times
        runs.send("FAIL", at, job={"namespace": "evil", "name": "shadow"})
    assert [run.job_id for run in runs.all_of("r1")] == [runs.world.id_of(job) for job in (JOB, "job:evil/shadow")]
    assert runs.shown()["state"] == "COMPLETE"
    (other,) = runs.all_of("r1", "job:evil/shadow")
    assert other.state == "FAIL"
