"""Protection of assets in the pipeline: what it refuses, what it accepts, and what it audits."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from lily.model import ids
from lily.model.events import AssetEvent
from lily.model.records import Record
from lily.model.statements import read_statement
from lily.store.postgres.audit.entries import insert_audit
from lily.store.postgres.catalogue.aggregation import aggregate
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.connection import connect
from lily.store.postgres.protection.asset_protection import AssetProtection, Validation
from tests.shared_stack import Stack


class Bench:
    """One tenant, and a catalogue that is written without the log."""

    def __init__(self, tenant: str, store: CatalogueWriter, connection: psycopg.Connection) -> None:
        self.tenant = tenant
        self.connection = connection
        self._store = store
        self._protection = AssetProtection()
        self._ticks = 0

    def event(self, name: str, *, authorised: bool = False, tick: int | None = None, **data: Any) -> AssetEvent:
        """The next statement; without attributes and operation, a source's plain refresh."""
        self._ticks += 1
        stated: dict[str, Any] = {"layer": "source", "qualified_name": name, "by": "somebody", "authorised": authorised}
        if data.get("layer", "source") == "source":
            stated |= {"entity_type": "table", "attributes": {"name": name}}
            data = {**data, "attributes": {"name": name, **data.get("attributes", {})}}
        time = f"2026-01-01T00:{self._ticks if tick is None else tick:02}:00.000000Z"
        return AssetEvent(ids.event_id(), time, self.tenant, read_statement({**stated, **data}, tenant=self.tenant))

    def store(self, *events: AssetEvent) -> None:
        with self._store._connection.transaction():
            self._store._merge(self._store._open_batch(), aggregate(events))

    def validate(self, *events: AssetEvent) -> Validation:
        records = [(Record("t", 0, offset, "", b"", b""), event) for offset, event in enumerate(events)]
        return self._protection.validate(self.connection, records)

    def refuses(self, *events: AssetEvent) -> list[int]:
        """The indexes of the events that are refused."""
        return [refusal.record.offset for refusal in self.validate(*events).refused]


@pytest.fixture
def bench(
    stack: Stack, make_tenant: Callable[[], tuple[str, str]], catalogue_writer: CatalogueWriter
) -> Iterator[Bench]:
    connection = connect(stack.database_of("lily_pipeline"), "lily-tests")
    yield Bench(make_tenant()[0], catalogue_writer, connection)
    connection.close()


def person(operation: str = "upsert", **data: Any) -> dict[str, Any]:
    return {"layer": "user", "operation": operation, **data}


def tags(*names: str) -> dict[str, Any]:
    return {"attributes": {"tags": list(names)}}


def test_a_source_that_drops_a_protective_tag_is_refused_and_the_rest_passes(bench: Bench) -> None:
    bench.store(bench.event("a", **tags("PII", "raw")), bench.event("b", **tags("raw")))
    events = [bench.event("a", **tags("raw")), bench.event("b", **tags()), bench.event("c", **tags())]
    validation = bench.validate(*events)
    assert [event for _, event in validation.accepted] == events[1:]
    (refusal,) = validation.refused
    (problem,) = refusal.problems
    assert (problem.code, problem.entity) == ("PROTECTED", "a")
    assert problem.description == "removing the protective tag PII requires the scope policy:write"
    assert validation.audit == []


def test_an_authorised_removal_is_audited(bench: Bench, stack: Stack) -> None:
    bench.store(bench.event("a", **tags("PII", "GDPR")))
    event = bench.event("a", **tags("gdpr"), authorised=True)
    (entry,) = bench.validate(event).audit
    assert entry[:4] == (bench.tenant, "somebody", "tag.removed", event.asset_id)
    assert entry.detail == {"tags": ["pii"], "layer": "source", "event": event.id}
    with bench.connection.transaction():
        insert_audit(bench.connection, [entry])
    with psycopg.connect(stack.database) as connection:
        statement = "select principal, action, entity, detail from audit where tenant_id = %s and action like 'tag.%%'"
        assert connection.execute(statement, [bench.tenant]).fetchall() == [entry[1:]]


def test_each_layer_is_protected(bench: Bench) -> None:
    bench.store(bench.event("a", **tags("PII")), bench.event("a", **person("tag", tag="pii")))
    assert bench.refuses(bench.event("a", **person("untag", tag="PII"))) == [0]
    assert bench.refuses(bench.event("a", **tags())) == [0]
    assert bench.refuses(bench.event("a", **person("untag", tag="other"))) == []
    assert bench.refuses(bench.event("a", **person(attributes={"tags": []}))) == [0]


def test_what_an_earlier_event_of_the_batch_tags_is_protected_already(bench: Bench) -> None:
    assert bench.refuses(bench.event("new", **tags("PII")), bench.event("new", **tags())) == [1]
    assert bench.refuses(bench.event("new", **tags("PII")), bench.event("new", **tags("pii"))) == []


def test_the_time_of_events_decides_not_their_order(bench: Bench) -> None:
    bench.store(bench.event("a", **tags("PII"), tick=30))
    assert bench.refuses(bench.event("a", **tags(), tick=20)) == []
    assert bench.refuses(bench.event("b", **tags(), tick=40), bench.event("b", **tags("PII"), tick=35)) == []


def test_what_a_refused_event_stated_does_not_count(bench: Bench) -> None:
    bench.store(bench.event("a", **tags("PII")))
    assert bench.refuses(bench.event("a", **tags()), bench.event("a", **person("tag", tag="x")), bench.event("a")) == [
        0
    ]


def test_a_changed_rule_applies_to_the_next_batch(bench: Bench, stack: Stack) -> None:
    bench.store(bench.event("a", **tags("Secret")))
    assert bench.refuses(bench.event("a", **tags())) == []
    defined = "insert into tags (tenant_id, key, name, propagates) values (%s, 'secret', 'Secret', true)"
    with psycopg.connect(stack.database) as connection:
        connection.execute(defined, [bench.tenant])
    assert bench.refuses(bench.event("a", **tags())) == [0]
    with psycopg.connect(stack.database) as connection:
        connection.execute("update tags set propagates = false where tenant_id = %s", [bench.tenant])
    assert bench.refuses(bench.event("a", **tags())) == []


def test_a_tag_that_only_a_policy_names_is_protected_while_the_policy_exists(bench: Bench, stack: Stack) -> None:
    bench.store(
        bench.event("top", **tags("Secret")),
        bench.event("open"),
        bench.event("a", attributes={"tags": ["Secret"], "parent": "top"}),
        bench.event("b", **parent("top")),
    )
    dropped, moved = bench.event("a", **tags("other")), bench.event("b", **parent("open"))
    assert bench.refuses(dropped, moved) == []
    stored = "insert into policies (tenant_id, key, body, names, version) values (%s, %s, '{}', %s, 1)"
    with psycopg.connect(stack.database) as connection:
        connection.execute(stored, [bench.tenant, "p", ["r:reader", "t:secret"]])
        connection.execute(stored, [bench.tenant, "q", ["t:secret", "t:other"]])
    assert bench.refuses(dropped, moved) == [0, 1]
    (refusal, _) = bench.validate(dropped, moved).refused
    assert refusal.problems[0].description == "removing the protective tag secret requires the scope policy:write"
    with psycopg.connect(stack.database) as connection:
        connection.execute("update policies set names = '{t:other}' where key = 'q' and tenant_id = %s", [bench.tenant])
    assert bench.refuses(dropped, moved) == [0, 1], "another policy still names it"
    with psycopg.connect(stack.database) as connection:
        connection.execute("delete from policies where key = 'p' and tenant_id = %s", [bench.tenant])
    assert bench.refuses(dropped, moved) == []
    assert bench.refuses(bench.event("a", **person("suppress", tag="Other", reason="r"))) == [0]


def test_each_change_of_a_policy_counts_in_its_tenant_alone_and_subjects_are_not_tags(
    bench: Bench, stack: Stack, make_tenant: Callable[[], tuple[str, str]]
) -> None:
    other = make_tenant()[0]
    with psycopg.connect(stack.database, autocommit=True) as connection:

        def named(statement: bytes, tenant: str, *names: str) -> list[list[str]]:
            connection.execute(statement, {"tenant": tenant, "names": list(names)})
            found = "select named_tags from access_versions where tenant_id = %s"
            return [connection.execute(found, [one]).fetchall()[0][0] for one in (bench.tenant, other)]

        create = (
            b"insert into policies (tenant_id, key, body, names, version) values (%(tenant)s, 'p', '{}', %(names)s, 1)"
        )
        replace = b"update policies set names = %(names)s where tenant_id = %(tenant)s"
        assert named(create, other, "t:kept") == [[], ["kept"]]
        assert named(create, bench.tenant, "u:ann", "g:hr", "r:reader", "t:one") == [["one"], ["kept"]]
        assert named(replace, bench.tenant, "u:ann", "t:two", "t:one") == [["one", "two"], ["kept"]]
        assert named(replace, bench.tenant, "u:ann") == [[], ["kept"]]
        assert named(replace, bench.tenant, "t:two") == [["two"], ["kept"]]
        assert named(b"delete from policies where tenant_id = %(tenant)s", bench.tenant) == [[], ["kept"]]


def test_policies_that_are_created_at_the_same_time_all_count(bench: Bench, stack: Stack) -> None:
    """The second waits for the first, and must see it afterwards."""
    stored = "insert into policies (tenant_id, key, body, names, version) values (%s, %s, '{}', %s, 1)"
    with psycopg.connect(stack.database) as first, psycopg.connect(stack.database) as second:
        first.execute(stored, [bench.tenant, "p", ["t:one"]])
        waiting = threading.Thread(target=second.execute, args=[stored, [bench.tenant, "q", ["t:two"]]])
        waiting.start()
        while bench.connection.execute(
            "select cardinality(pg_blocking_pids(%s))", [second.info.backend_pid]
        ).fetchone() == (0,):
            assert waiting.is_alive()
        first.commit()
        waiting.join()
        second.commit()
        named = "select named_tags from access_versions where tenant_id = %s"
        assert second.execute(named, [bench.tenant]).fetchone() == (["one", "two"],)


def parent(name: str | None) -> dict[str, Any]:
    return {"attributes": {"parent": name}}


def test_a_move_that_loses_an_inherited_tag_is_refused(bench: Bench) -> None:
    bench.store(
        bench.event("top", **tags("PII", "note")),
        bench.event("closed", **parent("top")),
        bench.event("also", **tags("Pii")),
        bench.event("open", **tags("note")),
        bench.event("a", **parent("closed")),
    )
    assert bench.refuses(bench.event("a", **parent("open"))) == [0]
    assert bench.refuses(bench.event("a", **parent(None))) == [0]
    assert bench.refuses(bench.event("closed", **parent("open"))) == [0]
    assert bench.refuses(bench.event("a", **parent("also"))) == []
    assert bench.refuses(bench.event("a", **parent("closed"))) == []
    assert bench.refuses(bench.event("a", **person(attributes={"parent": "open"}))) == [0]
    (entry,) = bench.validate(bench.event("a", **parent("open"), authorised=True)).audit
    assert (entry.action, entry.detail["tags"], entry.detail["layer"]) == ("tag.removed", ["pii"], "inherited")


def test_a_parent_that_a_person_overrides_is_the_sources_to_change(bench: Bench) -> None:
    bench.store(
        bench.event("closed", **tags("PII")),
        bench.event("a", **parent("elsewhere")),
        bench.event("a", **person(attributes={"parent": "closed"})),
    )
    assert bench.refuses(bench.event("a", **parent("open"))) == []
    assert bench.refuses(bench.event("a", **person(attributes={"parent": None}))) == [0]


def test_what_the_asset_states_itself_it_does_not_lose_by_moving(bench: Bench) -> None:
    bench.store(
        bench.event("closed", **tags("PII")), bench.event("a", attributes={"parent": "closed", "tags": ["PII"]})
    )
    assert bench.refuses(bench.event("a", attributes={"parent": "open", "tags": ["PII"]})) == []


def test_a_suppression_needs_to_be_authorised(bench: Bench) -> None:
    about = person("suppress", tag="PII", reason="tokenised")
    bench.store(bench.event("a"))
    assert bench.refuses(bench.event("a", **about)) == [0]
    assert bench.refuses(bench.event("a", **person("suppress", tag="x", reason="y"))) == []
    (entry,) = bench.validate(bench.event("a", **about, authorised=True)).audit
    assert (entry.action, entry.detail["tags"]) == ("tag.suppressed", ["pii"])
    bench.store(bench.event("a", **about))
    assert bench.refuses(bench.event("a", **person("unsuppress", tag="PII"))) == []


def test_deletion_is_protected_where_it_cuts(bench: Bench, stack: Stack) -> None:
    bench.store(bench.event("a", **tags("PII")), bench.event("b", **parent("a")), bench.event("c", **tags("PII")))
    gone = [bench.event("a", operation="delete"), bench.event("c", **person("delete"))]
    assert bench.refuses(*gone) == []
    with psycopg.connect(stack.database) as connection:
        connection.execute("update tenants set on_delete = 'cut' where id = %s", [bench.tenant])
    assert bench.refuses(*gone) == [0]


def test_events_that_cannot_remove_a_tag_cause_no_query(bench: Bench) -> None:
    events = [bench.event("a", attributes={"owner": "x"}), bench.event("a", **person("tag", tag="PII"))]
    bench.connection.close()  # a query would fail
    assert [event for _, event in bench.validate(*events).accepted] == events
