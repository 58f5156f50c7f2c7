"""What a lineage graph shows of its assets and edges."""

from collections.abc import Callable

from lily.store.postgres.definitions.tags import read_tag_rules
from lily.store.postgres.graph.nodes import Node, read_nodes
from lily.store.postgres.graph.placeholders import node_names
from lily.store.postgres.runs.reader import jobs_of_edges, jobs_writing
from lily.store.postgres.sessions import Database
from tests.lineage_world import World
from tests.openlineage_words import dataset, run_event
from tests.postgres.migrated import Migrated


def test_nodes_have_the_tags_in_effect(migrated: Migrated, make_world: Callable[[], World]) -> None:
    world = make_world()
    world.asset("a", tags=["PII", "Finance"])
    world.asset("b", tags=["Daily"])
    world.asset("c")
    world.column("b.x", "b")
    world.edge("a", "b")
    world.edge("b", "c")
    world.settle()
    world.person("c", "suppress", tag="PII", reason="aggregated")
    names = {world.id_of(name): name for name in ("a", "b", "b.x", "c")}

    async def read(database: Database) -> dict[str, Node]:
        rules = await read_tag_rules(database, world.tenant)
        return await read_nodes(database, world.tenant, list(names), rules)

    found = {names[asset]: node.tags for asset, node in migrated.as_api(read).items()}
    assert found == {"a": ("Finance", "PII"), "b": ("Daily", "PII"), "b.x": ("PII",), "c": ()}


def test_an_edge_has_the_jobs_that_claim_it_with_their_last_run(
    migrated: Migrated, make_world: Callable[[], World]
) -> None:
    world = make_world()
    both = {"inputs": [dataset("a")], "outputs": [dataset("b")]}
    world.take(run_event(eventTime="2026-01-01T10:00:00Z", run={"runId": "r1"}, **both))
    world.take(run_event(eventTime="2026-01-01T11:00:00Z", run={"runId": "r2"}, eventType="FAIL"))
    world.take(run_event(job={"namespace": "n", "name": "other"}, **both))
    world.edge("b", "c")
    keys = [(world.id_of("b"), world.id_of("c"), "derived-from"), (world.id_of("a"), world.id_of("b"), "derived-from")]
    found = migrated.as_api(lambda database: jobs_of_edges(database, world.tenant, keys))
    assert {number: [(job.qualified_name, job.run, job.state) for job in jobs] for number, jobs in found.items()} == {
        1: [
            ("job:airflow/dag.task", "r2", "FAIL"),
            ("job:n/other", "0190a6a4-7a3b-7000-8000-000000000001", "COMPLETE"),
        ]
    }
    assert migrated.as_api(lambda database: jobs_of_edges(database, make_world().tenant, keys)) == {}


def test_the_jobs_that_write_a_dataset_are_found_without_edges_also_if_they_failed(
    migrated: Migrated, make_world: Callable[[], World]
) -> None:
    world = make_world()
    alone = {"inputs": [], "outputs": [dataset("t"), dataset("u")]}
    error = {"errorMessage": {"message": "disk full", "programmingLanguage": "SQL"}}
    world.take(run_event(run={"runId": "r1"}, job={"namespace": "n", "name": "seed"}, **alone))
    world.take(run_event(run={"runId": "r2", "facets": error}, eventType="FAIL", **alone))
    world.take(run_event(run={"runId": "r3"}, job={"namespace": "n", "name": "reads"}, inputs=[dataset("t")]))
    found = migrated.as_api(lambda database: jobs_writing(database, world.tenant, world.id_of("t"), limit=10))
    assert [(job.qualified_name, job.state, job.error) for job in found] == [
        ("job:airflow/dag.task", "FAIL", "disk full"),
        ("job:n/seed", "COMPLETE", None),
    ]
    assert (
        migrated.as_api(lambda database: jobs_writing(database, make_world().tenant, world.id_of("t"), limit=9)) == []
    )


def test_names_are_those_of_assets_and_of_placeholders(migrated: Migrated, make_world: Callable[[], World]) -> None:
    world = make_world()
    world.asset("a")
    world.edge("a", "nobody.stated.this")
    asked = {world.id_of(name): name for name in ("a", "nobody.stated.this", "unknown")}
    found = migrated.as_api(lambda database: node_names(database, world.tenant, asked))
    assert sorted(found.values()) == ["a", "nobody.stated.this"]
    assert all(asked[asset] == name for asset, name in found.items())
    assert migrated.as_api(lambda database: node_names(database, make_world().tenant, asked)) == {}
