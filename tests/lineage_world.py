"""A small tenant whose graph a test changes as the pipeline would, and propagates, without Spark."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

import psycopg

from lily.api.ingest.lineage_rights import limited
from lily.bus import topics
from lily.intake.openlineage import Naming, convert
from lily.lineage.marks import AssetMark, EdgeMark, Marks
from lily.model import clock, ids
from lily.model.access import Principal
from lily.model.edges import EdgeEvent, read_edge_statement
from lily.model.events import AssetEvent, read_event
from lily.model.records import Record
from lily.model.run_queries import QuerySender
from lily.model.statements import read_statement
from lily.plugins import Sender
from lily.reactions.relay.change_events import statement_event
from lily.store.postgres.catalogue.writer import CatalogueWriter
from lily.store.postgres.outbox.batches import RuleStatement
from lily.store.postgres.propagation.propagator import PROPAGATION, PropagationResult, Propagator
from lily.store.postgres.queries import query
from tests.stored_lineage import expected_derived, stored_definitions, stored_derived, stored_graph
from tests.tag_oracle import Derived, replay

_RECORD = Record(topics.ASSETS, 0, 0, clock.now(), None, None)
TRAVEL = {"direction": "downstream", "max_depth": None, "edge_types": None}
DEFAULTS = {**TRAVEL, "stopped_by_masking": False}


Paths = dict[tuple[str, str], list[str]]  # by tag and asset, of propagated tags: the origin first


@dataclass(frozen=True)
class Moment:
    """What was derived at a time, and how that was explained."""

    at: str
    derived: set[Derived]
    paths: Paths


class World:
    """Every statement is marked; `settle` propagates all marks. `note` keeps what is derived, for `difference`."""

    def __init__(self, tenant: str, store: CatalogueWriter, propagator: Propagator, owner: psycopg.Connection) -> None:
        self.tenant, self.store, self._propagator, self._owner = tenant, store, propagator, owner
        self.marks = Marks()
        self.authorised = True  # whether what is stated about assets has authority
        self.time = ""  # of what is stated about assets; empty for now
        self._heard = 0
        self.moments: list[Moment] = []

    @contextmanager
    def parked(self) -> Iterator[None]:
        """Keeps the stack's own propagation away from this tenant: only the test propagates."""
        park = "insert into parked_tenants (reaction, tenant_id, retry_at) values (%s, %s, 'infinity')"
        self._owner.execute(park, [PROPAGATION, self.tenant])
        try:
            yield
        finally:
            self._owner.execute("delete from parked_events where tenant_id = %s", [self.tenant])
            self._owner.execute("delete from parked_tenants where tenant_id = %s", [self.tenant])

    def id_of(self, name: str) -> str:
        return ids.asset_id(self.tenant, name)

    def asset(self, name: str, **attributes: object) -> None:
        self.typed("table", name, **attributes)

    def typed(self, kind: str, name: str, /, **attributes: object) -> None:
        stated = {"name": name, **attributes}
        self._state({"entity_type": kind, "qualified_name": name, "attributes": stated, "by": "crawler"})

    def column(self, name: str, table: str, /, **attributes: object) -> None:
        stated = {"name": name.removeprefix(f"{table}."), "parent": table, **attributes}
        self._state({"entity_type": "column", "qualified_name": name, "attributes": stated, "by": "crawler"})

    def retire(self, name: str, kind: str = "table") -> None:
        """What its source deletes."""
        about = {"entity_type": kind, "qualified_name": name, "attributes": {"name": name}}
        self._state({**about, "operation": "delete", "by": "crawler"})

    def person(self, name: str, operation: str, **more: object) -> None:
        self._state({"layer": "user", "qualified_name": name, "operation": operation, "by": "ada", **more})

    def enrich(self, name: str, **attributes: object) -> None:
        self._state({"layer": "enriched", "qualified_name": name, "attributes": attributes, "by": "rule"})

    def edge(self, start: str, end: str, kind: str = "derived-from", **settings: bool) -> None:
        """With authority, unless `authorised` is false."""
        self._link(start, end, {"relationship_type": kind, **settings})

    def unlink(self, start: str, end: str, kind: str = "derived-from", *, authorised: bool = True) -> None:
        self._link(start, end, {"relationship_type": kind, "operation": "delete", "authorised": authorised})

    def _link(self, start: str, end: str, stated: dict[str, object]) -> None:
        told = {"from": start, "to": end, "layer": "user", "authorised": True, "by": "ada", **stated}
        statement = read_edge_statement(told, tenant=self.tenant)
        event = EdgeEvent(ids.event_id(), clock.now(), self.tenant, statement)
        self.store.apply(topics.LINEAGE_INTAKE, {}, [(_RECORD, event)], [])
        self.marks.edges.append(EdgeMark(self.id_of(start), self.id_of(end)))

    def take(
        self,
        event: object,
        sender: QuerySender | None = None,
        *,
        by: str = "etl",
        describes: bool = True,
        reads: bool = True,
        authorised: bool = False,
    ) -> None:
        """An OpenLineage event, all of it in PostgreSQL. Policies restrict its `sender`, if given."""
        who = Sender(self.tenant, by, authorised=authorised, describes=describes, reads=reads)
        found = convert(event, who, Naming(), received=clock.now())
        for asset in found.assets:
            self.store.apply(topics.ASSETS, {}, [(_RECORD, asset)], [])
            self.marks.assets.append(AssetMark(asset.asset_id))
        if (claims := found.claims) is not None:
            if sender is not None:
                scopes, groups, scraper = frozenset[str](), frozenset(sender.groups), sender.scraper_group
                claims = limited(
                    claims, Principal("", self.tenant, sender.user, scopes, groups=groups, scraper_group=scraper)
                )
            self.store.apply(topics.LINEAGE_INTAKE, {}, [(_RECORD, claims)], [])
        for edge in found.renamed:
            self.store.apply(topics.LINEAGE_INTAKE, {}, [(_RECORD, edge)], [])
        self.marks.edges += [EdgeMark(*key[:2]) for key in self.edge_keys()]

    def live(self, kind: str) -> set[str]:
        """The names of the assets of a type that are not deleted."""
        asked = "select qualified_name from assets where tenant_id = %s and entity_type = %s and not is_deleted"
        return {name for (name,) in self._owner.execute(asked, [self.tenant, kind])}

    def edge_keys(self) -> list[tuple[str, str, str]]:
        """Of all edges, the deleted ones included."""
        asked = "select from_id::text, to_id::text, type from edges where tenant_id = %s"
        return self._owner.execute(asked, [self.tenant]).fetchall()

    def conduction(self) -> dict[tuple[str, str, str], int]:
        """What the edges conduct, the deleted ones included."""
        asked = "select from_id::text, to_id::text, type, conduction from edges where tenant_id = %s"
        return {(start, end, kind): found for start, end, kind, found in self._owner.execute(asked, [self.tenant])}

    def shown_conduction(self) -> dict[tuple[str, str, str], int]:
        """What the edges would conduct if it were what they show."""
        asked = (
            "select from_id::text, to_id::text, type, case when is_deleted or not propagates then 0"
            " when masking then 1 else 2 end from edges where tenant_id = %s"
        )
        return {(start, end, kind): found for start, end, kind, found in self._owner.execute(asked, [self.tenant])}

    def edges(self) -> dict[tuple[str, str, str], dict[str, bool]]:
        """By the names of the ends and the type."""
        asked = (
            "select a.qualified_name, b.qualified_name, e.type, e.masking, e.assumed from edges e "
            "join assets a on a.tenant_id = e.tenant_id and a.id = e.from_id "
            "join assets b on b.tenant_id = e.tenant_id and b.id = e.to_id where e.tenant_id = %s and not e.is_deleted"
        )
        rows = self._owner.execute(asked, [self.tenant])
        return {
            (start, end, kind): {"masking": masking, "assumed": assumed} for start, end, kind, masking, assumed in rows
        }

    def define(self, tag: str, *, propagates: bool = True, **settings: object) -> None:
        told = {**DEFAULTS, **settings, "propagates": propagates, "tenant": self.tenant, "key": tag}
        self._owner.execute(
            "insert into tags (tenant_id, key, name, propagates, direction, max_depth, edge_types, stopped_by_masking) "
            "values (%(tenant)s, %(key)s, %(key)s, %(propagates)s, %(direction)s, %(max_depth)s, %(edge_types)s, "
            "%(stopped_by_masking)s) on conflict (tenant_id, key) do update set propagates = excluded.propagates, "
            "direction = excluded.direction, max_depth = excluded.max_depth, edge_types = excluded.edge_types, "
            "stopped_by_masking = excluded.stopped_by_masking",
            told,
        )
        self.marks.tags.add(tag)

    def undefine(self, tag: str) -> None:
        self._owner.execute("delete from tags where tenant_id = %s and key = %s", [self.tenant, tag])
        self.marks.tags.add(tag)

    def rule(self, name: str, attribute: str, mode: str, **settings: object) -> None:
        told = {**TRAVEL, **settings, "tenant": self.tenant, "key": name, "attribute": attribute, "mode": mode}
        self._owner.execute(
            "insert into propagation_rules (tenant_id, key, name, attribute, mode, direction, max_depth, edge_types) "
            "values (%(tenant)s, %(key)s, %(key)s, %(attribute)s, %(mode)s, %(direction)s, %(max_depth)s, "
            "%(edge_types)s) on conflict (tenant_id, key) do update set attribute = excluded.attribute, "
            "mode = excluded.mode, direction = excluded.direction, max_depth = excluded.max_depth, "
            "edge_types = excluded.edge_types",
            told,
        )
        self.marks.rules.add(name)

    def unrule(self, name: str) -> None:
        self._owner.execute("delete from propagation_rules where tenant_id = %s and key = %s", [self.tenant, name])
        self.marks.rules.add(name)

    def on_delete(self, value: str) -> None:
        self._owner.execute("update tenants set on_delete = %s where id = %s", [value, self.tenant])
        self.marks.deletion = True

    def settle(self) -> PropagationResult:
        marks, self.marks = self.marks, Marks()
        return self._propagator.propagate(self.tenant, marks)

    def derived(self, tag: str = "pii", kind: str = "propagated") -> set[str]:
        """The names of the assets that derive the tag."""
        names: dict[str, str] = dict(
            self._owner.execute("select id::text, qualified_name from assets where tenant_id = %s", [self.tenant])
        )
        found = stored_derived(self._owner, self.tenant)
        return {names.get(one.asset, one.asset) for one in found if one.tag == tag and one.kind == kind}

    def stating(self, tag: str) -> set[str]:
        """The ids of the assets that state the tag in any layer."""
        asked = "select id::text from assets where tenant_id = %s and %s = any (stated)"
        return {asset for (asset,) in self._owner.execute(asked, [self.tenant, tag])}

    def new_origins(self) -> set[tuple[str, str]]:
        """Asset and origin, by name."""
        return set(
            self._owner.execute(
                "select a.qualified_name, o.qualified_name from new_origins n "
                "join assets a on a.tenant_id = n.tenant_id and a.id = n.asset_id "
                "join assets o on o.tenant_id = n.tenant_id and o.id = n.origin where n.tenant_id = %s",
                [self.tenant],
            ).fetchall()
        )

    def stored(self) -> set[Derived]:
        return stored_derived(self._owner, self.tenant)

    def recomputed(self) -> set[Derived]:
        return expected_derived(self._owner, self.tenant)

    def unexplained(self) -> list[str]:
        """The problems of the paths of all propagated tags."""
        graph = stored_graph(self._owner, self.tenant)
        definitions = {one.key: one for one in stored_definitions(self._owner, self.tenant)}
        asked = propagated(self.stored())
        paths = self.paths(asked)
        missing = [f"{tag} on {asset} has no path" for tag, asset in asked if (tag, asset) not in paths]
        return missing + [
            problem for (tag, _), path in paths.items() for problem in replay(path, graph, definitions[tag])
        ]

    def note(self) -> Moment:
        """Keeps what is derived now."""
        derived = self.stored()
        moment = Moment(clock.now(), derived, self.paths(propagated(derived)))
        self.moments.append(moment)
        return moment

    def difference(self, moment: Moment) -> tuple[Moment, Moment] | None:
        """The moment as it was and as the history has it; None if they are the same."""
        derived = self.stored_at(moment.at)
        found = Moment(moment.at, derived, self.paths(propagated(derived), moment.at))
        return None if found == moment else (moment, found)

    def paths(self, asked: Sequence[tuple[str, str]], at: str | None = None) -> Paths:
        """By tag and asset, the path of a propagated tag, now or at a time."""
        told = {
            "tenant": self.tenant,
            "tags": [tag for tag, _ in asked],
            "ids": [asset for _, asset in asked],
            "inherited": [False] * len(asked),
            "at": at,
        }
        rows = self._owner.execute(query("propagation/tag_paths"), told).fetchall()
        return {asked[number]: [row[1] for row in steps] for number, steps in groupby(rows, key=itemgetter(0))}

    def stored_at(self, at: str) -> set[Derived]:
        """What was stored at a time, by the history."""
        rows = self._owner.execute(
            "select d.asset_id::text, d.tag, d.kind, d.depth from derived_tags_at(%(tenant)s, array("
            "  select asset_id from derived_tags where tenant_id = %(tenant)s"
            "  union select asset_id from derived_tag_history where tenant_id = %(tenant)s), %(at)s) d",
            {"tenant": self.tenant, "at": at},
        )
        return {Derived(*row) for row in rows}

    def state_what_rules_say(self) -> int:
        """Applies what rules have stated, as the relay sends it, and returns the number of statements."""
        rows = self._owner.execute(
            "select position, tenant_id, asset_id::text, body, committed_at, stated_at from rule_statements "
            "where tenant_id = %s and position > %s order by position",
            [self.tenant, self._heard],
        ).fetchall()
        for row in rows:
            said = RuleStatement(*row)
            event = read_event(statement_event(said), received=clock.now())
            assert event.asset_id == said.asset_id
            self.store.apply(topics.ASSETS, {}, [(_RECORD, event)], [])
            self._heard = said.position
        return len(rows)

    def shown(self, name: str, attribute: str = "owner") -> object:
        """The shown value of the attribute."""
        asked = 'select source, enriched, "user" from assets where tenant_id = %s and id = %s'
        rows = self._owner.execute(asked, [self.tenant, self.id_of(name)]).fetchall()
        layers = [layer for row in rows for layer in reversed(row) if layer is not None]
        return next((layer[attribute] for layer in layers if attribute in layer), None)

    def _state(self, stated: dict[str, object]) -> None:
        statement = read_statement({**stated, "authorised": self.authorised}, tenant=self.tenant)
        event = AssetEvent(ids.event_id(), self.time or clock.now(), self.tenant, statement)
        self.store.apply(topics.ASSETS, {}, [(_RECORD, event)], [])
        self.marks.assets.append(AssetMark(event.asset_id))


def propagated(derived: Iterable[Derived]) -> list[tuple[str, str]]:
    """Tag and asset."""
    return sorted({(one.tag, one.asset) for one in derived if one.kind != "inherited"})
