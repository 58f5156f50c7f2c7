"""The plug-in: reads the target, compares, carries out."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Annotated

import psycopg
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from lily.connect.enforcers.postgres.catalogue import MARK, Catalogue, Relation, read
from lily.connect.enforcers.postgres.comparison import Comparison
from lily.connect.enforcers.postgres.execution import alone, carry_out, prepare, run
from lily.connect.enforcers.postgres.identifiers import quoted
from lily.connect.enforcers.postgres.planning import Planner, Questions
from lily.connect.enforcers.postgres.queries import query
from lily.connect.enforcers.postgres.roles import Roles
from lily.connect.enforcers.postgres.session import Connection, Session, is_passing
from lily.connect.enforcers.postgres.urls import checked_url
from lily.connect.enforcers.postgres.wanted.masks import Fixed
from lily.connect.enforcers.postgres.wanted.views import conjunction
from lily.model.errors import Terminal, Transient
from lily.plugins import Decision, Drift, Failure, Inventory, Plan, TargetColumn, TargetTable

MIN_VERSION = 160000  # pg_input_is_valid, and memberships that neither inherit nor SET ROLE


class PostgresConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    url: Annotated[SecretStr, AfterValidator(checked_url)] = Field(
        description="of the database, with a role that has the rights of the tables' owners: postgresql://…"
    )
    schemas: list[str] = Field([], description="which to enforce; without any, all but PostgreSQL's own")
    ignored_roles: list[str] = Field([], description="which are never restricted, such as the account of a loader")
    suffix: str = Field("_masked", min_length=1, max_length=20, description="the schema of masking views: shop_masked")
    connect_seconds: int = Field(10, ge=1, le=300)
    lock_seconds: float = Field(2.0, gt=0, le=60, description="how long to wait for a table that others use")
    statement_seconds: float = Field(60.0, gt=0, le=3600)


class Postgres:
    Config = PostgresConfig

    def __init__(self, config: PostgresConfig) -> None:
        self._config = config
        self._session = Session(
            config.url.get_secret_value(),
            connect_seconds=config.connect_seconds,
            lock_seconds=config.lock_seconds,
            statement_seconds=config.statement_seconds,
        )

    def inventory(self) -> Inventory:
        with self._reading() as (_, catalogue):
            known = {relation.oid for relation in catalogue.relations}
            tables = tuple(
                TargetTable(
                    (catalogue.database, one.schema, one.name),
                    one.kind,
                    tuple(TargetColumn(column.name, column.type.sql) for column in one.columns),
                )
                for one in catalogue.relations
                if one.parent not in known
            )
            return Inventory(tables, Roles(catalogue.roles, self._config.ignored_roles).listed())

    def plan(self, decisions: Sequence[Decision]) -> Plan:
        compared = self._compared(decisions)
        return Plan(tuple(compared.steps), tuple(compared.findings))

    def apply(self, plan: Plan) -> Sequence[Failure]:
        if not plan.steps:
            return []
        with self._session.use() as connection, alone(connection, self._session.target):
            prepare(connection)
            return carry_out(self._session, connection, plan.steps)

    def verify(self, decisions: Sequence[Decision]) -> Sequence[Drift]:
        return [Drift(*one) for one in self._compared(decisions).deviations]

    def remove(self) -> None:
        with self._session.use() as connection, alone(connection, self._session.target):
            if connection.info.server_version < MIN_VERSION:
                return  # nothing was ever applied there
            with connection.transaction():
                catalogue = read(connection, self._config.schemas)
            if not catalogue.prepared:
                return
            prepare(connection)
            self._restore(connection, catalogue)
            connection.execute(query("restore_schemas").replace("{mark}", MARK))

    def close(self) -> None:
        self._session.close()

    def _restore(self, connection: Connection, catalogue: Catalogue) -> None:
        """Each table in its own transaction. Raises Transient or Terminal for those that are left."""
        failed = []
        for kept in catalogue.kept.values():
            try:
                run(connection, [f"SELECT lily_enforcement.restore_table({kept.oid})"])
            except psycopg.Error as error:
                if connection.broken:
                    raise
                failed.append((is_passing(error), f"{kept.schema}.{kept.name}: {str(error).replace(chr(10), ' ')}"))
        if failed:
            kind = Transient if all(passing for passing, _ in failed) else Terminal
            described = "; ".join(text for _, text in failed[:10])
            raise kind(f"{len(failed)} tables of {self._session.target} are still enforced: {described}")

    def _compared(self, decisions: Sequence[Decision]) -> Comparison:
        with self._reading() as (connection, catalogue):
            questions = Questions(
                lambda several: _valid(connection, several), lambda table, filters: _bad(connection, table, filters)
            )
            roles = Roles(catalogue.roles, self._config.ignored_roles)
            return Planner(catalogue, roles, self._config.suffix, questions).compare(decisions)

    @contextmanager
    def _reading(self) -> Iterator[tuple[Connection, Catalogue]]:
        with self._session.use() as connection:
            version = connection.info.server_version
            if version < MIN_VERSION:
                found = f"{self._session.target} is version {version // 10000}"
                raise Terminal(f"{found}; Lily enforces in PostgreSQL {MIN_VERSION // 10000} and newer.")
            with connection.transaction():
                connection.execute("set transaction isolation level repeatable read, read only")
                yield connection, read(connection, self._config.schemas)


def _valid(connection: Connection, questions: Collection[Fixed]) -> dict[Fixed, bool]:
    if not questions:
        return {}
    texts, types = [one.text for one in questions], [one.type for one in questions]
    text = "select t, k, pg_input_is_valid(t, k) from unnest(%s::text[], %s::text[]) as one (t, k)"
    return {Fixed(t, k): valid for t, k, valid in connection.execute(text, [texts, types])}


def _bad(connection: Connection, table: Relation, filters: Collection[str]) -> list[str]:
    """The filters that PostgreSQL cannot even plan, such as a number that is compared with a text."""
    names, bad = [column.name for column in table.columns], []
    for one in filters:
        text = f"EXPLAIN SELECT FROM {quoted(table.schema, table.name)} WHERE {conjunction((one,), names)}"
        try:
            with connection.transaction():
                connection.execute(text.encode())
        except (psycopg.ProgrammingError, psycopg.DataError):
            bad.append(one)
    return bad
