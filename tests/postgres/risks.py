"""A tenant with incidents: what happens to its graph is delivered to the at-risk reaction as the relay routes it."""

import random
import uuid
from collections.abc import Iterable
from contextlib import closing

import orjson
import psycopg
from prometheus_client import CollectorRegistry
from psycopg import IsolationLevel

from lily.bus import topics
from lily.lineage.lake_nodes import LakeNode
from lily.model import governance
from lily.reactions.at_risk import AtRisk
from lily.reactions.base import Event
from lily.reactions.relay.routing import outgoing
from lily.store.postgres.at_risk.reading import paths_of
from lily.store.postgres.outbox.batches import Outbox
from lily.store.postgres.propagation.propagator import Propagator
from lily.store.postgres.queries import query
from tests.lineage_world import World
from tests.postgres.migrated import Migrated
from tests.risk_oracle import RiskGraph

Marks = set[tuple[str, str]]  # incident and asset


class Risks:
    """Connections of the worker: of its relay, and of the reaction."""

    def __init__(self, migrated: Migrated, owner: psycopg.Connection) -> None:
        url = migrated.url_of("lily_pipeline")
        self.owner = owner
        self._outbox, self._lake = Outbox(url), Propagator(url)
        self._connection = psycopg.connect(url, autocommit=True)
        self._connection.isolation_level = IsolationLevel.REPEATABLE_READ
        self._reaction = AtRisk(CollectorRegistry())
        self._reaction.open(self._connection)

    def close(self) -> None:
        for opened in (self._outbox, self._lake, self._connection):
            opened.close()

    def routed(self, tenant: str) -> list[bytes]:
        """The records of the tenant that the relay would publish now."""
        batches = self._outbox.unpublished(100_000)
        found = [
            orjson.dumps(one.event)
            for one in outgoing(self._outbox, batches)
            if one.topic == topics.GOVERNANCE and one.key.startswith(f"{tenant}/".encode())
        ]
        self._outbox.mark_published(batches, {})
        return found

    def handle(self, tenant: str, records: Iterable[bytes], *, dies: bool = False) -> None:
        """As the runner does, or as a runner that dies before it commits."""
        events = [Event(topics.GOVERNANCE, 0, number, b"", record) for number, record in enumerate(records)]
        with self._connection.transaction(force_rollback=dies):
            self._reaction.handle(tenant, events)

    def set_lake_parent(self, world: World, name: str, parent: str | None) -> None:
        """What the lake query does once it has found a column that only the lake has."""
        above = None if parent is None else world.id_of(parent)
        self._lake.set_parents({(world.tenant, world.id_of(name)): LakeNode(above, name, name, "column")})


class RiskWorld:
    """A graph and incidents, and the records about them that were not delivered yet."""

    def __init__(self, risks: Risks, world: World) -> None:
        self.world, self._risks, self._owner = world, risks, risks.owner
        self._pending: list[bytes] = []
        self._incidents: dict[str, str] = {}

    def incident(self, name: str, *assets: str, state: str = "open") -> str:
        """Opens or changes an incident; its assets only grow. One that was resolved stays so: a new id reopens."""
        incident = self._incidents.setdefault(name, str(uuid.uuid4()))
        self._owner.execute(
            "insert into incidents (tenant_id, incident_id, source, external_id, state, severity, opened_at) "
            "values (%s, %s, 'test', %s, %s, 'warning', now()) "
            "on conflict (tenant_id, incident_id) do update set state = excluded.state",
            [self.world.tenant, incident, incident, state],
        )
        for asset in assets:
            self._owner.execute(
                "insert into incident_assets (tenant_id, incident_id, asset_id) values (%s, %s, %s) "
                "on conflict do nothing",
                [self.world.tenant, incident, self.world.id_of(asset)],
            )
        if state == "resolved":
            del self._incidents[name]
        self._pending.append(orjson.dumps(governance.incident_record(incident, 1)))
        return incident

    def relay(self) -> None:
        self._pending += self._risks.routed(self.world.tenant)

    def deliver(self, chance: random.Random | None = None) -> None:
        """All that is pending; by chance in any order, some of it again, in several turns, and a runner dies."""
        self.relay()
        records, self._pending = self._pending, []
        if chance is None:
            return self._risks.handle(self.world.tenant, records)
        records += chance.choices(records, k=chance.randint(0, 3)) if records else []
        chance.shuffle(records)
        while records:
            size = chance.randint(1, len(records))
            if chance.random() < 0.2:
                self._risks.handle(self.world.tenant, records[:size], dies=True)
            self._risks.handle(self.world.tenant, records[:size])
            del records[:size]
        return None

    def lake_parent(self, name: str, parent: str | None) -> None:
        self._risks.set_lake_parent(self.world, name, parent)

    # What is stored, shown and announced ------------------------------------------------------------------------

    def stored(self) -> Marks:
        rows = self._owner.execute(
            "select incident_id::text, asset_id::text from at_risk where tenant_id = %s", [self.world.tenant]
        )
        return set(rows.fetchall())

    def announced(self) -> Marks:
        """What the announcements add up to. Each must change something."""
        sum_: Marks = set()
        rows = self._owner.execute(
            "select body from announcements where tenant_id = %s and body ->> 'change' in ('at_risk', 'clear') "
            "order by position",
            [self.world.tenant],
        )
        for (body,) in rows:
            marks = {(body["root"], asset) for asset, *_ in body["assets"]}
            if body["change"] == "at_risk":
                assert not marks & sum_
                sum_ |= marks
            else:
                assert marks <= sum_
                sum_ -= marks
        return sum_

    def announced_own(self, incident: str) -> list[tuple[str, list[str]]]:
        """By announcement, its change and which of the assets the incident itself concerns."""
        rows = self._owner.execute(
            "select body ->> 'change', body -> 'own' from announcements where tenant_id = %s and body ->> 'root' = %s "
            "and body ->> 'change' in ('at_risk', 'clear') order by position",
            [self.world.tenant, incident],
        )
        return rows.fetchall()

    def shown(self, names: Iterable[str]) -> Marks:
        """As a read of assets that only the lake has: their parents are given."""
        graph, assets = self.graph(), [self.world.id_of(name) for name in names]
        parents = [graph.parents.get(asset) for asset in assets]
        about = {"tenant": self.world.tenant, "ids": assets, "parents": parents, "tags": [], "cut": False}
        parameters = about | {"held_ids": [], "held_parents": []}
        rows = self._owner.execute(query("catalogue/reached"), parameters).fetchall()
        found = {asset: incidents for asset, _, _, incidents in rows if incidents is not None}
        asked = "select risks_of(%(tenant)s, %(ids)s::uuid[], %(parents)s::uuid[])"
        assert self._owner.execute(asked, parameters).fetchone() == (found or None,)  # what lineage shows
        assert all(incidents == sorted(incidents) for incidents in found.values())
        return {(incident, asset) for asset, incidents in found.items() for incident in incidents}

    def unexplained(self) -> Marks:
        """The rows without a path that holds."""
        graph, own = self.graph(), self.own()
        paths = {incident: self._paths(incident) for incident in own}
        return {
            (incident, asset)
            for incident, asset in self.stored()
            if not graph.explains(paths[incident].get(asset, ()), own[incident])
        }

    def _paths(self, incident: str) -> dict[str, tuple[str, ...]]:
        assets = [asset for found, asset in self.stored() if found == incident]
        parameters = {"tenant": self.world.tenant, "incident": incident, "ids": assets}
        return paths_of(dict(self._owner.execute(query("at_risk/supports"), parameters).fetchall()))

    # What there should be ---------------------------------------------------------------------------------------

    def expected(self) -> Marks:
        graph = self.graph()
        return {(incident, asset) for incident, own in self.own().items() for asset in graph.stored(own)}

    def expected_shown(self, names: Iterable[str]) -> Marks:
        graph, asked = self.graph(), {self.world.id_of(name) for name in names}
        return {(incident, asset) for incident, own in self.own().items() for asset in graph.reached(own) & asked}

    def own(self) -> dict[str, set[str]]:
        """The assets of each incident that is not resolved."""
        rows = self._owner.execute(
            "select i.incident_id::text, array_agg(o.asset_id::text) from incidents i "
            "join incident_assets o on o.tenant_id = i.tenant_id and o.incident_id = i.incident_id "
            "where i.tenant_id = %s and i.state <> 'resolved' group by 1",
            [self.world.tenant],
        )
        return {incident: set(assets) for incident, assets in rows}

    def graph(self) -> RiskGraph:
        edges = self._owner.execute(
            "select from_id::text, to_id::text from edges where tenant_id = %s and not is_deleted and propagates",
            [self.world.tenant],
        )
        of_lake = self._owner.execute(
            "select id::text, parent::text from graph_nodes where tenant_id = %s", [self.world.tenant]
        )
        held = self._owner.execute("select id::text, parent from assets where tenant_id = %s", [self.world.tenant])
        parents: dict[str, str | None] = dict([*of_lake, *held])
        return RiskGraph(frozenset(edges.fetchall()), {asset: above for asset, above in parents.items() if above})


def opened(migrated: Migrated, owner: psycopg.Connection) -> "closing[Risks]":
    return closing(Risks(migrated, owner))
