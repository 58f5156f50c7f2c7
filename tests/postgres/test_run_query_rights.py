"""SQL of runs whose sender policies restrict: what it may learn from the catalogue, and state."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lily.model.access import Principal
from lily.model.run_queries import QuerySender
from lily.policy import User
from lily.store.postgres.policies import objects
from lily.store.postgres.policies.objects import Entry
from lily.store.postgres.policies.stored_objects import user_entry
from tests.lineage_world import World
from tests.openlineage_words import column_lineage, dataset, field, run_event, schema
from tests.postgres.migrated import Migrated
from tests.postgres.run_queries import Edges, Runs, opened

COPY = "select id, email from raw.people"
UNION = "select id, email from raw.people union all select id, email from open.people"
INSERTS = "insert into main.other (id) select id from raw.people; insert into main.copy (id) select id from raw.people"
SECRETS = "select id, email from raw.people union all select id, email from raw.secrets"


class Policies:
    """Of one tenant."""

    def __init__(self, migrated: Migrated, tenant: str) -> None:
        self._migrated, self._admin = migrated, Principal("", tenant, "tester", frozenset({"admin"}))

    def put(self, entry: Entry) -> None:
        change = objects.change
        found = self._migrated.as_api(lambda database: change(database, self._admin, "put", entry, correlation="c"))
        assert found.done

    def deny(self, action: str, resource: dict[str, str], subject: str = "user:bob", **more: Any) -> None:
        kind, name = subject.split(":")
        body = {
            "id": action,
            "name": action,
            "subjects": [{kind: name}],
            "resources": [resource],
            "actions": [action],
            "effect": "deny",
            "applies_to": ["metadata"],
            **more,
        }
        self.put(Entry("policy", action, body, [f"{kind[0]}:{name}"]))


@pytest.fixture
def runs(migrated: Migrated, make_world: Callable[[], World]) -> Iterator[Runs]:
    """Bob sends them."""
    with opened(migrated, make_world()) as made:
        made.sender = QuerySender("bob", ("etl",), "")
        yield made


@pytest.fixture
def policies(migrated: Migrated, runs: Runs) -> Policies:
    return Policies(migrated, runs.world.tenant)


def copied(*columns: str) -> Edges:
    return {("raw.people", "main.copy"), *((f"raw.people.{name}", f"main.copy.{name}") for name in columns)}


def test_without_a_policy_that_concerns_it_all_is_stated(runs: Runs, policies: Policies) -> None:
    policies.deny("WRITE", {"asset": "raw.secrets"})
    runs.take("main.copy", COPY)
    runs.analyze()
    assert runs.derived() == copied("id", "email")
    assert runs.outcomes() == {"understood": 1}


@pytest.mark.parametrize("denied", ["raw.people", "raw"])
def test_an_edge_from_what_the_sender_may_not_write_is_left_out(runs: Runs, policies: Policies, denied: str) -> None:
    policies.deny("WRITE", {"asset": denied})
    runs.take("main.copy", UNION)
    runs.analyze()
    assert {start for start, _ in runs.derived()} == {"open.people", "open.people.id", "open.people.email"}
    assert runs.world.live("table") == {"main.copy", "open.people"}
    assert runs.outcomes() == {"partial": 1}


def test_a_column_that_the_sender_may_not_write_is_left_out(runs: Runs, policies: Policies) -> None:
    runs.world.asset("raw.people")
    runs.world.column("raw.people.email", "raw.people", tags=["PII"])
    policies.deny("WRITE", {"tag": "PII"})
    runs.world.settle()
    runs.take("main.copy", COPY)
    runs.analyze()
    assert runs.derived() == copied("id")


def test_an_output_that_the_sender_may_not_write_has_no_edges(runs: Runs, policies: Policies) -> None:
    policies.deny("WRITE", {"asset": "main.other"})
    runs.take(
        "main.copy",
        INSERTS,
    )
    runs.analyze()
    assert runs.derived() == copied("id")
    runs.take("main.view", "select * from main.other", at="12:00")
    runs.analyze()
    assert "main.view.id" not in runs.world.live("column")


def test_a_star_does_not_show_the_columns_that_the_sender_may_not_read(runs: Runs, policies: Policies) -> None:
    runs.sender, bob = None, runs.sender
    runs.take(dataset("raw.people", schema=schema("id", "email")), "select 1 as id")
    runs.analyze()
    policies.deny("READ", {"asset": "raw.people.email"})
    runs.sender = bob
    runs.take("main.copy", "select * from raw.people", at="12:00")
    runs.analyze()
    assert runs.world.live("column") >= {"main.copy.id"}
    assert "main.copy.email" not in runs.world.live("column")
    policies.deny("READ", {"asset": "raw.people"})
    runs.take("main.second", "select * from raw.people", at="13:00")
    runs.analyze()
    assert not {name for name in runs.world.live("column") if name.startswith("main.second.")}


def test_what_is_left_out_ends_no_edges_of_the_run_before(runs: Runs, policies: Policies) -> None:
    runs.take("main.copy", COPY)
    runs.analyze()
    policies.deny("WRITE", {"asset": "raw.people"})
    runs.take("main.copy", UNION, at="12:00", run="r2")
    runs.analyze()
    assert runs.derived() > copied("id", "email")


@pytest.mark.parametrize("subject", ["group:etl", "group:analysts", "role:loader"])
def test_groups_and_roles_of_the_sender_count(runs: Runs, policies: Policies, subject: str) -> None:
    policies.put(user_entry(User("bob", groups=("analysts",), roles=("loader",))))
    policies.put(Entry("role", "loader", {"name": "loader"}, []))
    policies.deny("WRITE", {"asset": "raw.people"}, subject)
    runs.take("main.copy", COPY)
    runs.analyze()
    assert runs.derived() == set()
    assert runs.outcomes() == {"partial": 1}


def test_a_denial_that_depends_on_the_callers_address_applies(runs: Runs, policies: Policies) -> None:
    policies.deny("WRITE", {"asset": "raw.people"}, conditions={"networks": ["10.0.0.0/8"]})
    runs.take("main.copy", COPY)
    runs.analyze()
    assert runs.derived() == set()
    assert runs.outcomes() == {"partial": 1}


def test_a_scraper_states_what_its_policies_cover(runs: Runs, policies: Policies) -> None:
    covered = {"id": "s", "name": "s", "scraper_group": "crawlers", "sources": ["warehouse"]}
    policies.put(Entry("scraper-policy", "s", covered))
    runs.sender = QuerySender("", (), "crawlers")
    for name, source in (("raw.people", "warehouse"), ("raw.secrets", "vault"), ("main.copy", "warehouse")):
        runs.world.asset(name, data_source=source)
    runs.take("main.copy", SECRETS)
    runs.analyze()
    assert runs.derived() == copied("id", "email")


def test_the_policies_of_another_tenant_do_not_count(
    runs: Runs, migrated: Migrated, make_world: Callable[[], World]
) -> None:
    Policies(migrated, make_world().tenant).deny("WRITE", {"asset": "*"})
    runs.take("main.copy", COPY)
    runs.analyze()
    assert runs.derived() == copied("id", "email")


def test_a_star_has_no_columns_of_the_catalogue_without_the_scope_and_ends_no_edges(runs: Runs) -> None:
    runs.sender = None
    runs.take(dataset("raw.people", schema=schema("id", "email")), "select 1 as id, 2 as email")
    runs.take("main.copy", "select * from raw.people")
    runs.analyze()
    assert runs.derived() == copied("id", "email")
    job = {"namespace": "shop", "name": "main.copy", "facets": {"sql": {"query": "select * from raw.people"}}}
    event = run_event(eventTime="2026-01-01T12:00:00Z", run={"runId": "r2"}, job=job, outputs=[dataset("main.copy")])
    runs.world.take(event, reads=False)
    runs.analyze()
    assert runs.derived() == copied("id", "email")
    job["name"] = "main.other"
    runs.world.take(event | {"job": job, "outputs": [dataset("main.other")]}, reads=False)
    runs.analyze()
    assert {edge for edge in runs.derived() if edge[1].startswith("main.other")} == {("raw.people", "main.other")}


def test_columns_that_column_lineage_leaves_to_a_union_need_rights_too(runs: Runs, policies: Policies) -> None:
    """Whether the query is understood or not."""
    named = column_lineage(id=[field("raw.people", "id")], email=[field("open.people", "email")])
    policies.deny("WRITE", {"asset": "raw.people.id"})
    for sql in (UNION, UNION + " selec nothing of ) this"):
        runs.take(dataset("main.copy", columnLineage=named), sql)
        runs.analyze()
        assert ("open.people.email", "main.copy.email") in runs.derived()
        assert "raw.people.id" not in {start for start, _ in runs.derived()}
