"""Which OpenLineage events are accepted: unusual but valid ones are, others are refused with every problem."""

from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lily.intake.openlineage import OpenLineage, OpenLineageConfig
from lily.intake.openlineage.conversion import MAX_ASSETS
from lily.model.edges import read_claims_event
from lily.model.errors import Refused
from lily.model.events import read_event
from lily.plugins import Delivery, Sender
from tests.openlineage_words import DB, NOW, RUN, assumed, claims, converted, dataset, run_event, schema


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
def test_unusual_but_valid_events_are_accepted(event: dict[str, Any]) -> None:
    assert converted(event).assets


@pytest.mark.parametrize(
    ("event", "entity"),
    [
        (None, "body"),
        ([], "body"),
        ({}, "eventTime"),
        (run_event(eventTime=None), "eventTime"),
        (run_event(eventTime="soon"), "eventTime"),
        (run_event(eventTime="2027-11-15T11:00:00Z"), "eventTime"),
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
        (run_event(outputs=[dataset("x" * 2000)]), "outputs[0].name"),
    ],
)
def test_an_invalid_event_is_refused_with_its_problem(event: Any, entity: str) -> None:
    with pytest.raises(Refused) as refused:
        converted(event)
    assert entity in {problem.entity for problem in refused.value.problems}


SOUND: dict[str, Any] = {
    "schema": schema("x"),
    "documentation": {"description": "all orders"},
    "ownership": {"owners": [{"name": "ann"}]},
    "tags": {"tags": [{"key": "daily"}]},
    "columnLineage": {"fields": {"x": {"inputFields": [{"namespace": DB, "name": "b", "field": "y"}]}}},
    "datasetType": {"datasetType": "VIEW"},
}


@pytest.mark.parametrize(
    ("facet", "broken", "entity"),
    [
        ("schema", [], "schema"),
        ("schema", {"fields": {}}, "schema.fields"),
        ("schema", {"fields": [{"name": "x"}, {}]}, "schema.fields.name"),
        ("schema", {"fields": [{"name": "x", "type": 7}]}, "schema.fields.type"),
        ("columnLineage", {"fields": []}, "columnLineage.fields"),
        ("columnLineage", {"fields": {"x": 7}}, "columnLineage.fields"),
        ("columnLineage", {"fields": {"x": {"inputFields": [{"name": 7}]}}}, "columnLineage.fields.inputFields.name"),
        ("tags", {"tags": [{"key": "a"}, {"key": 7}]}, "tags.tags.key"),
        ("tags", "daily", "tags"),
        ("ownership", {"owners": [{"name": 7}]}, "ownership.owners.name"),
        ("documentation", {"description": []}, "documentation.description"),
        ("datasetType", {"datasetType": 7}, "datasetType.datasetType"),
    ],
)
def test_what_is_wrong_in_a_facet_spoils_that_facet_alone(facet: str, broken: Any, entity: str) -> None:
    found = converted(run_event(outputs=[dataset("a", **(SOUND | {facet: broken}))]))
    assert f"outputs[0].facets.{entity}" in {warning.entity for warning in found.warnings}
    without = {name: value for name, value in SOUND.items() if name != facet}
    expected = converted(run_event(outputs=[dataset("a", **without)]))
    assert [asset.statement for asset in found.assets] == [asset.statement for asset in expected.assets]
    assert (found.claims and found.claims.claims) == (expected.claims and expected.claims.claims)
    assert not expected.warnings


def test_facets_that_are_not_an_object_are_ignored_as_a_whole() -> None:
    found = converted(run_event(inputs=[{"namespace": DB, "name": "a", "facets": []}]))
    assert [warning.entity for warning in found.warnings] == ["inputs[0].facets"]
    assert [asset.statement.qualified_name for asset in found.assets] == ["job:airflow/dag.task", "a"]


def test_a_run_whose_lineage_was_not_understood_ends_no_earlier_edges() -> None:
    broken = dataset("a", columnLineage={"fields": 7})
    found = converted(run_event(inputs=[dataset("b")], outputs=[broken])).claims
    assert found is not None
    assert not found.complete


def test_a_facet_with_many_problems_reports_the_first_ones() -> None:
    found = converted(run_event(outputs=[dataset("a", tags={"tags": [{"key": 7}] * 5_000})]))
    assert len(found.warnings) <= 10


@pytest.mark.parametrize("without", [(), ("run", "eventType")])
def test_an_event_with_a_job_is_not_about_a_dataset(without: tuple[str, ...]) -> None:
    """It may have a property `dataset` of its own."""
    event = run_event(outputs=[dataset("b")], dataset={"namespace": DB, "name": "x"}, schemaURL=None)
    for name in without:
        del event[name]
    assert "job:airflow/dag.task" in {asset.statement.qualified_name for asset in converted(event).assets}


@pytest.mark.parametrize(
    ("extra", "run"),
    [
        ({"eventType": "COMPLETE"}, "job"),
        ({"eventType": "whatever", "dataset": {"namespace": DB, "name": "x"}}, "job"),
        ({"run": {"facets": {}}}, "job"),
    ],
)
def test_a_job_event_is_one_whatever_else_it_has(extra: dict[str, Any], run: str) -> None:
    event = run_event(inputs=[dataset("a")], outputs=[dataset("b")], schemaURL="https://x/1#/$defs/JobEvent")
    del event["run"], event["eventType"]
    found = converted(event | extra).claims
    assert found is not None
    assert (found.run, found.complete) == (run, True)


@pytest.mark.parametrize("extra", [{"job": {"namespace": "n", "name": "j"}}, {"eventType": "odd"}, {"run": {}}])
def test_a_dataset_event_is_one_whatever_else_it_has(extra: dict[str, Any]) -> None:
    event = {
        "eventTime": "2026-11-15T11:00:00Z",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
        "dataset": dataset("a"),
    }
    assert [asset.statement.qualified_name for asset in converted(event | extra).assets] == ["a"]


def test_all_problems_are_reported_together() -> None:
    with pytest.raises(Refused) as refused:
        converted(run_event(eventType="DONE", job={"namespace": "x"}, inputs=[{}, {"name": 7}]))
    assert len(refused.value.problems) == 4


def test_a_small_event_cannot_claim_a_million_edges() -> None:
    many = [{"namespace": "n", "name": f"d{number}"} for number in range(1_000)]
    assert claims(converted(run_event(inputs=many, outputs=many))) == {}


def test_an_event_cannot_describe_too_many_assets() -> None:
    fields = schema(*(f"c{number}" for number in range(MAX_ASSETS)))
    with pytest.raises(Refused, match="assets"):
        converted(run_event(outputs=[dataset("a", schema=fields)]))


def test_a_schema_that_is_nested_too_deep_is_ignored() -> None:
    nested: dict[str, Any] = {"name": "deepest"}
    for _ in range(100):
        nested = {"name": "n", "fields": [nested]}
    found = converted(run_event(outputs=[dataset("a", schema={"fields": [nested]})]))
    assert "nested deeper" in found.warnings[0].description
    assert len(found.assets) == 2


def test_the_ids_of_the_converted_events_are_distinct() -> None:
    found = converted(
        run_event(inputs=[dataset("b")], outputs=[dataset("a", schema=schema(*(f"c{n}" for n in range(50))))])
    )
    assert found.claims is not None
    assert len({found.claims.id, *(stated.id for stated in found.stated)}) == len(found.stated) + 1


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def events(noise: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Complete events in which any part may be replaced by random values."""
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
def test_the_pipeline_accepts_every_converted_event(event: Any) -> None:
    if "eventType" in event and "run" not in event:
        event["run"] = {"runId": RUN}
    found = converted(event)
    for asset in found.assets:
        assert read_event(asset.as_cloudevent(), received=NOW) == asset
    if found.claims is not None:
        assert read_claims_event(found.claims.as_cloudevent(), received=NOW) == found.claims


@given(events(_JSON) | _JSON)
def test_random_input_is_refused_or_accepted_and_raises_no_other_error(event: Any) -> None:
    try:
        found = converted(event)
    except Refused:
        return
    for asset in found.assets:
        assert read_event(asset.as_cloudevent(), received=NOW) == asset


MANY = 1_000_000
HUGE: dict[str, Any] = {
    "tags": {"tags": [{}] * MANY},
    "schema": {"fields": [{"name": "c"}] * MANY},
    "columnLineage": {"fields": {"x": {"inputFields": [{}] * MANY}}},
    "ownership": {"owners": [{}] * MANY},
    "symlinks": {"identifiers": [{}] * MANY},
    "lineage": {"inputs": [{}] * MANY},
    "custom": {"numbers": [1] * MANY},
}


@pytest.mark.parametrize("facet", list(HUGE))
def test_a_facet_with_a_million_entries_is_ignored_with_a_warning_and_the_rest_is_used(facet: str) -> None:
    found = converted(run_event(inputs=[dataset("a")], outputs=[dataset("t", **{facet: HUGE[facet]})]))
    assert {warning.code for warning in found.warnings} == {"TOO_LONG"}
    assert len(found.warnings) <= 2
    assert assumed(found) == {("a", "t")}


def test_a_facet_with_many_lists_of_wrong_entries_reports_the_first_ones() -> None:
    fields: dict[str, Any] = {f"x{number}": {"inputFields": [{}] * 10_000} for number in range(100)}
    found = converted(run_event(outputs=[dataset("t", columnLineage={"fields": fields})]))
    assert [warning.code for warning in found.warnings] == ["INVALID_TYPE"]


def test_an_event_with_too_many_objects_is_refused_and_the_others_of_its_array_are_not() -> None:
    plain = run_event(outputs=[dataset("t")])
    tags = [{"key": "k"}] * 20_000
    huge = run_event(outputs=[dataset(f"t{number}", tags={"tags": tags}) for number in range(11)])
    intake = OpenLineage(OpenLineageConfig())
    delivery = Delivery(orjson.dumps([plain, huge]), {}, NOW)
    first, second = intake.decode(delivery)
    assert intake.events(first, delivery, Sender("t"))
    with pytest.raises(Refused, match="more than 200000 objects"):
        intake.events(second, delivery, Sender("t"))


def test_an_event_with_almost_ten_thousand_fields_is_taken_whole() -> None:
    fields = schema(*(f"c{number}" for number in range(MAX_ASSETS - 2)))
    found = converted(run_event(outputs=[dataset("a", schema=fields)]))
    assert (len(found.assets), found.warnings) == (MAX_ASSETS, [])


def test_names_that_point_at_each_other_in_a_circle_are_one_dataset() -> None:
    names = [{"namespace": DB, "name": name} for name in "abc"]
    circle = [
        {**one, "facets": {"symlinks": {"identifiers": [other]}}}
        for one, other in zip(names, names[1:] + names[:1], strict=True)
    ]
    found = converted(run_event(inputs=circle))
    ends = {edge[:2] for edge in claims(found)}
    assert ends == {(one, other) for one, other in ("ab", "ba", "bc", "cb", "ca", "ac")}
