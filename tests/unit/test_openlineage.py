"""OpenLineage's events as Lily's own: assets stated, edges claimed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.intake.openlineage import Conversion, Naming, Sender, convert
from lily.intake.openlineage.conversion import MOST_ASSETS
from lily.model import ids
from lily.model.edges import ClaimsEvent, read_claims_event
from lily.model.errors import Refused
from lily.model.events import AssetEvent, read_event
from lily.model.lanes import lane_of

NOW = "2026-11-15T12:00:00.000000Z"
RUN = "0190a6a4-7a3b-7000-8000-000000000001"
DB = "postgres://db:5432"


def converted(event: Any, **sender: Any) -> Conversion:
    return convert(event, Sender("t", "me", **sender), Naming(), received=NOW)


def run_event(**more: Any) -> dict[str, Any]:
    return {
        "eventType": "COMPLETE",
        "eventTime": "2026-11-15T11:00:00Z",
        "producer": "https://example.org/producer",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": RUN},
        "job": {"namespace": "airflow", "name": "dag.task"},
        **more,
    }


def dataset(name: str, **facets: Any) -> dict[str, Any]:
    return {"namespace": DB, "name": name, "facets": facets} if facets else {"namespace": DB, "name": name}


def schema(*fields: str) -> dict[str, Any]:
    return {"fields": [{"name": name, "type": "varchar", "description": f"the {name}"} for name in fields]}


def column_lineage(**fields: list[Any]) -> dict[str, Any]:
    return {"fields": {name: {"inputFields": inputs} for name, inputs in fields.items()}}


def field(name: str, column: str, *transformations: Any) -> dict[str, Any]:
    return {"namespace": DB, "name": name, "field": column, "transformations": list(transformations)}


def stated(found: Conversion) -> dict[str, AssetEvent]:
    return {asset.statement.qualified_name: asset for asset in found.assets}


def attributes(found: Conversion, name: str) -> dict[str, Any]:
    return stated(found)[name].statement.attributes


def claims(found: Conversion) -> dict[tuple[str, str, str], bool]:
    """With names instead of ids."""
    names = {ids.asset_id("t", name): name for name in stated(found)}
    assert found.claims is not None
    return {(names[key.from_id], names[key.to_id], key.type): masking for key, masking in found.claims.claims}


def test_a_run_states_its_job_its_datasets_and_their_columns() -> None:
    found = converted(
        run_event(inputs=[dataset("shop.public.a", schema=schema("x", "y"))], outputs=[dataset("shop.public.b")])
    )
    assert {name: asset.statement.entity_type for name, asset in stated(found).items()} == {
        "job:airflow/dag.task": "job",
        "shop.public.a": "table",
        "shop.public.a.x": "column",
        "shop.public.a.y": "column",
        "shop.public.b": "table",
    }
    assert attributes(found, "shop.public.a.y") == {
        "name": "y",
        "parent": "shop.public.a",
        "ordinal_position": 2,
        "data_type": "varchar",
        "description": "the y",
    }
    assert claims(found) == {("shop.public.a", "shop.public.b", "derived-from"): False}


def test_the_claims_are_the_jobs_and_complete_when_the_run_is() -> None:
    lineage = {"inputs": [dataset("a")], "outputs": [dataset("b")]}
    found = converted(run_event(**lineage), authorised=True).claims
    assert isinstance(found, ClaimsEvent)
    assert (found.job_id, found.run) == (ids.asset_id("t", "job:airflow/dag.task"), RUN)
    assert (found.complete, found.by, found.authorised) == (True, "me", True)
    for kind in ("START", "RUNNING", "FAIL", "ABORT", "OTHER", None, "start"):
        unfinished = converted(run_event(**lineage) | {"eventType": kind}).claims
        assert unfinished is not None
        assert not unfinished.complete


def test_a_job_event_is_lineage_by_design() -> None:
    event = run_event(inputs=[dataset("a")], outputs=[dataset("b")])
    for name in ("run", "eventType", "schemaURL"):
        del event[name]
    found = converted(event).claims
    assert found is not None
    assert (found.run, found.complete) == ("job", True)


def test_a_dataset_event_states_the_dataset_alone() -> None:
    event = {"eventTime": "2026-11-15T11:00:00Z", "dataset": dataset("a", schema=schema("x"))}
    found = converted(event)
    assert list(stated(found)) == ["a", "a.x"]
    assert found.claims is None


def test_a_run_without_lineage_claims_nothing() -> None:
    assert converted(run_event()).claims is None
    assert converted(run_event(inputs=[dataset("a")])).claims is None


def test_columns_derive_from_columns() -> None:
    lineage = column_lineage(
        total=[field("a", "price", {"type": "DIRECT"}), field("a", "country", {"type": "INDIRECT"})],
        plain=[field("a", "x")],
    )
    found = converted(run_event(inputs=[dataset("a")], outputs=[dataset("b", columnLineage=lineage)]))
    assert claims(found) == {
        ("a", "b", "derived-from"): False,
        ("a.price", "b.total", "derived-from"): False,
        ("a.country", "b.total", "influences"): False,
        ("a.x", "b.plain", "derived-from"): False,
    }


def test_a_column_that_only_filters_influences_the_dataset() -> None:
    lineage = {"fields": {}, "dataset": [field("a", "country", {"type": "INDIRECT", "subtype": "FILTER"})]}
    found = converted(run_event(outputs=[dataset("b", columnLineage=lineage)]))
    assert claims(found) == {("a.country", "b", "influences"): False}


@pytest.mark.parametrize(
    ("transformations", "masking"),
    [
        ([], False),
        ([{"type": "DIRECT", "masking": True}], True),
        ([{"type": "DIRECT", "masking": True}, {"type": "INDIRECT", "masking": True}], True),
        ([{"type": "DIRECT", "masking": True}, {"type": "INDIRECT"}], False),
        ([{"type": "DIRECT", "subtype": "AGGREGATION"}], False),
        ([{"type": "DIRECT", "masking": "true"}], False),
        ([{"type": "DIRECT", "masking": True}, "what"], False),
    ],
)
def test_only_what_every_transformation_masks_is_masked(transformations: list[Any], masking: bool) -> None:  # noqa: FBT001
    lineage = column_lineage(hash=[field("a", "ssn", *transformations)])
    found = converted(run_event(outputs=[dataset("b", columnLineage=lineage)]))
    assert claims(found)[("a.ssn", "b.hash", "derived-from")] is masking


def test_an_edge_named_twice_is_masked_only_if_both_say_so() -> None:
    masked, open_ = {"type": "DIRECT", "masking": True}, {"type": "DIRECT", "masking": False}
    lineage = column_lineage(y=[field("a", "x", masked), field("a", "x", open_)])
    found = converted(run_event(outputs=[dataset("b", columnLineage=lineage)]))
    assert claims(found) == {("a.x", "b.y", "derived-from"): False}


def test_every_end_of_an_edge_is_stated_by_name() -> None:
    lineage = column_lineage(y=[field("elsewhere", "x")])
    found = converted(run_event(outputs=[dataset("b", columnLineage=lineage)]))
    assert attributes(found, "elsewhere.x") == {"name": "x", "parent": "elsewhere"}
    assert attributes(found, "elsewhere") == {"name": "elsewhere"}
    assert attributes(found, "b.y") == {"name": "y", "parent": "b"}


def test_a_table_that_is_read_and_written_is_no_edge_to_itself() -> None:
    lineage = column_lineage(x=[field("a", "x")])
    found = converted(run_event(inputs=[dataset("a")], outputs=[dataset("a", columnLineage=lineage)]))
    assert found.claims is None
    assert list(stated(found)) == ["job:airflow/dag.task", "a", "a.x"]


def test_a_dataset_without_facets_says_only_that_it_exists() -> None:
    full = dataset("a", documentation={"description": "all orders"})
    for inputs in ([full, dataset("a")], [dataset("a"), full]):
        found = converted(run_event(inputs=inputs))
        assert attributes(found, "a") == {"name": "a", "description": "all orders"}
    assert attributes(converted(run_event(inputs=[dataset("a")])), "a") == {"name": "a"}


def test_documentation_and_ownership_are_kept() -> None:
    facets = {
        "documentation": {"description": "Loads orders"},
        "ownership": {"owners": [{"name": "team:data", "type": "MAINTAINER"}, {"name": "user:ann"}]},
    }
    job = {"namespace": "airflow", "name": "dag.task", "facets": facets}
    found = converted(run_event(job=job, outputs=[dataset("a", **facets)]))
    for name in ("job:airflow/dag.task", "a"):
        told = attributes(found, name)
        assert (told["description"], told["owner"]) == ("Loads orders", "team:data")
        assert told["owners"] == [{"name": "team:data", "type": "MAINTAINER"}, {"name": "user:ann"}]


def test_tags_are_keys_and_values_of_datasets_and_fields() -> None:
    facet = {
        "tags": [
            {"key": "pii", "value": "true", "source": "DBT"},
            {"key": "tier", "value": "gold"},
            {"key": "daily"},
            {"key": "gdpr", "value": "false"},
            {"key": "PII", "value": "true", "field": "email"},
        ]
    }
    found = converted(run_event(outputs=[dataset("a", tags=facet, schema=schema("email", "id"))]))
    assert attributes(found, "a")["tags"] == ["pii", "tier:gold", "daily"]
    assert attributes(found, "a.email")["tags"] == ["PII"]
    assert attributes(found, "a.id")["tags"] == []
    assert lane_of(stated(found)["a.email"]) == "hot"
    assert lane_of(stated(found)["a.id"]) == "bulk"


def test_a_tagged_field_is_stated_even_where_no_schema_names_it() -> None:
    facet = {"tags": [{"key": "pii", "value": "true", "field": "email"}]}
    found = converted(run_event(outputs=[dataset("a", tags=facet)]))
    assert attributes(found, "a.email") == {"name": "email", "parent": "a", "tags": ["pii"]}


def test_without_a_tags_facet_nothing_is_said_about_tags() -> None:
    found = converted(run_event(outputs=[dataset("a", schema=schema("x"))]))
    assert all("tags" not in asset.statement.attributes for asset in found.assets)


def test_tags_of_the_dataset_alone_leave_those_of_its_fields_to_others() -> None:
    facet = {"tags": [{"key": "daily", "value": "true"}]}
    found = converted(run_event(outputs=[dataset("a", tags=facet, schema=schema("x"))]))
    assert "tags" not in attributes(found, "a.x")


@pytest.mark.parametrize("facet", [{"tags": []}, {"_deleted": True}])
def test_a_tags_facet_without_tags_clears_them(facet: dict[str, Any]) -> None:
    found = converted(run_event(outputs=[dataset("a", tags=facet, schema=schema("x"))]))
    assert attributes(found, "a")["tags"] == attributes(found, "a.x")["tags"] == []


def test_a_facet_that_is_deleted_takes_back_what_it_said() -> None:
    gone = {"_deleted": True, "_producer": "x"}
    facets = dict.fromkeys(("documentation", "ownership", "schema", "columnLineage"), gone)
    found = converted(run_event(inputs=[dataset("b")], outputs=[dataset("a", **facets)]))
    assert attributes(found, "a") == {"name": "a", "description": None, "owner": None, "owners": None}
    assert claims(found) == {("b", "a", "derived-from"): False}


@pytest.mark.parametrize(
    ("facet", "kind"),
    [
        ({"datasetType": "VIEW"}, "view"),
        ({"datasetType": "view", "subType": "MATERIALIZED"}, "materialized_view"),
        ({"datasetType": "TOPIC"}, "topic"),
        ({"datasetType": "JOB_OUTPUT"}, "table"),
        ({}, "table"),
    ],
)
def test_the_type_is_what_the_facet_says(facet: dict[str, Any], kind: str) -> None:
    found = converted(run_event(outputs=[dataset("a", datasetType=facet, documentation={"description": ""})]))
    assert stated(found)["a"].statement.entity_type == kind


def test_fields_of_a_structure_lie_below_their_column() -> None:
    nested = {"fields": [{"name": "address", "type": "struct", "fields": [{"name": "city", "type": "varchar"}]}]}
    found = converted(run_event(outputs=[dataset("a", schema=nested)]))
    assert attributes(found, "a.address.city")["parent"] == "a.address"


@pytest.mark.parametrize(
    "event",
    [
        run_event(inputs=None, outputs=None),
        run_event(job={"namespace": "", "name": "x", "facets": None}),
        run_event(inputs=[{"namespace": None, "name": "x"}]),
        run_event(inputs=[dataset("a", schema=None, tags=None, columnLineage=None, ownership=None)]),
        run_event(outputs=[dataset("a", schema={}, tags={"tags": None}, columnLineage={"fields": None})]),
        run_event(outputs=[dataset("a", mine={"any": ["thing", 7]}, other={"_schemaURL": "x"})]),
        run_event(run={"runId": "not-a-uuid", "facets": {"parent": {}}}),
        run_event(extra="unknown", unknown={"a": 1}),
        {"eventTime": "2026-11-15T11:00", "run": {"runId": "1"}, "job": {"namespace": "n", "name": "j"}},
        run_event(outputs=[dataset("ünïcode.täble", schema=schema("größe"))]),
        run_event(outputs=[dataset("with space", schema=schema("a b", "c.d"))]),
    ],
)
def test_awkward_but_legal_events_are_taken(event: dict[str, Any]) -> None:
    assert converted(event).assets


@pytest.mark.parametrize(
    ("event", "entity"),
    [
        (None, "body"),
        ([], "body"),
        ({}, "eventTime"),
        (run_event(eventTime=None), "eventTime"),
        (run_event(eventTime="soon"), "time"),
        (run_event(eventTime="2027-11-15T11:00:00Z"), "time"),
        (run_event(eventType="DONE"), "eventType"),
        (run_event(run=None), "run"),
        (run_event(run=[]), "run"),
        (run_event(run={}), "run.runId"),
        (run_event(run={"runId": "x" * 200}), "run.runId"),
        (run_event(job=None), "job"),
        (run_event(job={"namespace": "x"}), "job.name"),
        (run_event(job={"namespace": 7, "name": "x"}), "job.namespace"),
        (run_event(inputs={}), "inputs"),
        (run_event(inputs=[None]), "inputs"),
        (run_event(inputs=[{"namespace": "x"}]), "inputs[0].name"),
        (run_event(inputs=[dataset("")]), "inputs[0].name"),
        (run_event(outputs=[dataset(RUN)]), "outputs[0].name"),
        (run_event(outputs=[{"namespace": DB, "name": "a", "facets": []}]), "outputs[0].facets"),
        (run_event(outputs=[dataset("a", schema=[])]), "outputs[0].facets.schema"),
        (run_event(outputs=[dataset("a", schema={"fields": [{}]})]), "outputs[0].facets.schema.fields.name"),
        (run_event(outputs=[dataset("a", columnLineage={"fields": []})]), "outputs[0].facets.columnLineage.fields"),
        (
            run_event(outputs=[dataset("a", columnLineage={"fields": {"x": 7}})]),
            "outputs[0].facets.columnLineage.fields",
        ),
        (run_event(outputs=[dataset("a", tags={"tags": [{"key": 7}]})]), "outputs[0].facets.tags.tags.key"),
        (run_event(outputs=[dataset("x" * 2000)]), "outputs[0].name"),
    ],
)
def test_what_breaks_the_specification_is_refused_with_what_is_wrong(event: Any, entity: str) -> None:
    with pytest.raises(Refused) as refused:
        converted(event)
    assert entity in {problem.entity for problem in refused.value.problems}


def test_everything_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(Refused) as refused:
        converted(run_event(eventType="DONE", job={"namespace": "x"}, inputs=[{}, {"name": 7}]))
    assert len(refused.value.problems) == 4


def test_a_small_event_cannot_claim_a_million_edges() -> None:
    many = [{"namespace": "n", "name": f"d{number}"} for number in range(1_000)]
    with pytest.raises(Refused, match="edges"):
        converted(run_event(inputs=many, outputs=many))


def test_an_event_cannot_tell_of_too_many_assets() -> None:
    fields = schema(*(f"c{number}" for number in range(MOST_ASSETS)))
    with pytest.raises(Refused, match="assets"):
        converted(run_event(outputs=[dataset("a", schema=fields)]))


def test_structures_cannot_be_nested_without_end() -> None:
    nested: dict[str, Any] = {"name": "deepest"}
    for _ in range(100):
        nested = {"name": "n", "fields": [nested]}
    with pytest.raises(Refused, match="nested"):
        converted(run_event(outputs=[dataset("a", schema={"fields": [nested]})]))


def test_ids_of_one_event_are_distinct() -> None:
    found = converted(
        run_event(inputs=[dataset("b")], outputs=[dataset("a", schema=schema(*(f"c{n}" for n in range(50))))])
    )
    assert found.claims is not None
    assert len({found.claims.id, *(asset.id for asset in found.assets)}) == len(found.assets) + 1


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def events(noise: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Whole events in which any part may be replaced by the noise."""
    names = st.sampled_from(["a", "s.t", "c.s.t", "é", "x y", "a/b", 'q"q']) | noise
    fields = st.fixed_dictionaries(
        {"name": names}, optional={"type": st.just("int") | noise, "description": st.none() | noise}
    )
    step = st.fixed_dictionaries({"type": st.sampled_from(["DIRECT", "INDIRECT"]), "masking": st.booleans()})
    inputs = st.fixed_dictionaries(
        {"namespace": st.sampled_from([DB, "n"]), "name": names, "field": names},
        optional={"transformations": st.lists(step, max_size=2) | noise},
    )
    tags = st.fixed_dictionaries({"key": names}, optional={"value": names, "field": names})
    about = st.fixed_dictionaries({"inputFields": st.lists(inputs, max_size=3)}) | noise
    lineage = st.fixed_dictionaries(
        {"fields": st.dictionaries(st.sampled_from(["a", "é", "x y"]), about, max_size=3)},
        optional={"dataset": st.lists(inputs, max_size=2) | noise},
    )
    facets = st.fixed_dictionaries(
        {},
        optional={
            "schema": st.fixed_dictionaries({"fields": st.lists(fields, max_size=3) | noise}),
            "tags": st.fixed_dictionaries({"tags": st.lists(tags, max_size=3)}) | noise,
            "ownership": st.just({"owners": [{"name": "o"}]}) | noise,
            "documentation": st.just({"description": "d"}) | noise,
            "columnLineage": lineage | noise,
        },
    )
    datasets = st.fixed_dictionaries(
        {"namespace": st.sampled_from([DB, "s3://b", "", "n"]) | noise, "name": names},
        optional={"facets": facets | noise},
    )
    return st.fixed_dictionaries(
        {
            "eventTime": st.just("2026-11-15T11:00:00Z"),
            "job": st.fixed_dictionaries({"namespace": names, "name": names}),
            "outputs": st.lists(datasets, max_size=3) | noise,
        },
        optional={
            "run": st.just({"runId": RUN}),
            "eventType": st.sampled_from(["START", "COMPLETE", None]),
            "inputs": st.lists(datasets, max_size=3) | noise,
        },
    )


@given(events(st.nothing()))
def test_whatever_is_taken_the_pipeline_takes_as_it_is(event: Any) -> None:
    if "eventType" in event and "run" not in event:
        event["run"] = {"runId": RUN}
    found = converted(event)
    for asset in found.assets:
        assert read_event(asset.as_cloudevent(), received=NOW) == asset
    if found.claims is not None:
        assert read_claims_event(found.claims.as_cloudevent(), received=NOW) == found.claims


@given(events(_JSON) | _JSON)
def test_noise_is_refused_or_taken_and_nothing_else(event: Any) -> None:
    try:
        found = converted(event)
    except Refused:
        return
    for asset in found.assets:
        assert read_event(asset.as_cloudevent(), received=NOW) == asset
