"""A nightly job with two steps, as a scheduler of one's own would report it with the Python client."""

from datetime import UTC, datetime

from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.facet_v2 import (
    RunFacet,
    column_lineage_dataset,
    error_message_run,
    parent_run,
    schema_dataset,
)
from openlineage.client.uuid import generate_new_uuid

DATABASE = "postgres://warehouse:5432"
PRODUCER = "https://example.org/scheduler"
client = OpenLineageClient()


def send(state: RunState, run: Run, job: str, inputs: list[InputDataset], outputs: list[OutputDataset]) -> None:
    at = datetime.now(UTC).isoformat()
    event = RunEvent(
        eventType=state,
        eventTime=at,
        run=run,
        job=Job("nightly", job),
        inputs=inputs,
        outputs=outputs,
        producer=PRODUCER,
    )
    client.emit(event)


def child_of(parent: Run, job: str, **facets: RunFacet) -> Run:
    of = parent_run.ParentRunFacet(run=parent_run.Run(parent.runId), job=parent_run.Job("nightly", job))
    return Run(str(generate_new_uuid()), facets={"parent": of, **facets})


def column(dataset: str, name: str) -> column_lineage_dataset.InputField:
    return column_lineage_dataset.InputField(DATABASE, dataset, name)


def fields(**columns: list[column_lineage_dataset.InputField]) -> column_lineage_dataset.ColumnLineageDatasetFacet:
    named = {name: column_lineage_dataset.Fields(inputFields=inputs) for name, inputs in columns.items()}
    return column_lineage_dataset.ColumnLineageDatasetFacet(fields=named)


night = Run(str(generate_new_uuid()))
send(RunState.START, night, "all", [], [])

load = child_of(night, "all")
people = schema_dataset.SchemaDatasetFacet(
    fields=[schema_dataset.SchemaDatasetFacetFields(name, "varchar") for name in ("email", "country")]
)
send(RunState.START, load, "load", [InputDataset(DATABASE, "crm.public.people", facets={"schema": people})], [])
copied = fields(email=[column("crm.public.people", "email")], country=[column("crm.public.people", "country")])
send(
    RunState.COMPLETE, load, "load", [], [OutputDataset(DATABASE, "dwh.core.people", facets={"columnLineage": copied})]
)

report = child_of(night, "all", errorMessage=error_message_run.ErrorMessageRunFacet("disk is full", "SQL"))
send(RunState.START, report, "report", [InputDataset(DATABASE, "dwh.core.people")], [])
send(RunState.FAIL, report, "report", [], [OutputDataset(DATABASE, "dwh.reports.countries")])

send(RunState.FAIL, night, "all", [], [])
client.close()
print(night.runId, load.runId, report.runId)
