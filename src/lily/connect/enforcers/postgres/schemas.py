"""The schemas of masking views, and USAGE of all schemas for those who may read something in them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from lily.connect.enforcers.postgres.catalogue import MARK, PUBLIC, Catalogue, Schema
from lily.connect.enforcers.postgres.comparison import Comparison
from lily.connect.enforcers.postgres.identifiers import listed, literal, quoted
from lily.connect.enforcers.postgres.roles import Roles
from lily.connect.enforcers.postgres.wanted.masks import BOOKKEEPING
from lily.plugins import Step


class SchemaUsage:
    """`need` is called for every table before the others."""

    def __init__(self, catalogue: Catalogue, roles: Roles) -> None:
        self._catalogue, self._roles = catalogue, roles
        self._needed: dict[str, set[int]] = defaultdict(set)

    def need(self, schema: str, roles: Iterable[int]) -> None:
        self._needed[schema].update(roles)

    def granted(self) -> Comparison:
        """The schemas that are missing, and USAGE for roles that would not have it in any other way."""
        result = Comparison()
        for name in sorted(self._needed):
            schema = self._catalogue.schemas.get(name)
            if schema is None:
                result.steps.append(Step((), f"CREATE SCHEMA IF NOT EXISTS {quoted(name)}"))
                result.steps.append(Step((), f"COMMENT ON SCHEMA {quoted(name)} IS {literal(MARK)}"))
            missing = self._names(self._wanted(name) - (schema.granted if schema else frozenset()))
            if missing:
                note = f"INSERT INTO {_USAGES} {_keys(name, missing)} ON CONFLICT DO NOTHING"
                statement = f"GRANT USAGE ON SCHEMA {quoted(name)} TO {listed(missing)}"
                self._add(result, name, [statement, note], f"{', '.join(missing)} cannot use the schema", "USAGE of it")
        return result

    def withdrawn(self) -> Comparison:
        """USAGE that Lily has granted and nobody needs any more."""
        result = Comparison()
        for name, schema in sorted(self._catalogue.schemas.items()):
            surplus = self._names(self._by_lily(schema) - self._wanted(name))
            if surplus:
                note = f"DELETE FROM {_USAGES} WHERE (schema, role) IN ({_keys(name, surplus)})"
                statement = f"REVOKE USAGE ON SCHEMA {quoted(name)} FROM {listed(surplus)}"
                self._add(result, name, [statement, note], f"{', '.join(surplus)} can use the schema", "no USAGE of it")
        return result

    def _wanted(self, name: str) -> frozenset[int]:
        """To whom Lily has to grant it. What another role or PUBLIC was granted serves as well."""
        needed = self._needed.get(name, set())
        schema = self._catalogue.schemas.get(name)
        others = {schema.owner, *(schema.granted - self._by_lily(schema))} if schema else set[int]()
        enough = others | needed
        own = {oid for oid in needed if not enough & self._roles.by_oid[oid].inherits and oid not in others}
        return frozenset() if PUBLIC in others else frozenset(own)

    def _by_lily(self, schema: Schema) -> frozenset[int]:
        return frozenset(role for one, role in self._catalogue.usages if one == schema.oid)

    def _names(self, oids: Iterable[int]) -> list[str]:
        return sorted(map(self._roles.name, oids))

    def dropped(self, needed: Collection[str]) -> Comparison:
        """Schemas without a masking view. One in which someone else has made something stays."""
        lilys = {kept.view for kept in self._catalogue.kept.values()}
        foreign = {schema for (schema, _), one in self._catalogue.views.items() if one.oid not in lilys}
        result = Comparison()
        for name, schema in sorted(self._catalogue.schemas.items()):
            if schema.is_own and name not in needed and name not in foreign:
                statement = f"DROP SCHEMA IF EXISTS {quoted(name)}"
                self._add(result, name, [statement], "the schema of masking views", "no masking view in it")
        return result

    def _add(self, result: Comparison, schema: str, statements: list[str], found: str, expected: str) -> None:
        path = self._catalogue.database, schema
        result.steps += [Step(path, statement) for statement in statements]
        result.deviations.append((path, found, expected))


_USAGES = f"{BOOKKEEPING}.usages"  # Lily takes back only what it has granted


def _keys(schema: str, roles: Sequence[str]) -> str:
    return (
        "SELECT n.oid, r.oid FROM pg_namespace AS n, pg_roles AS r "
        f"WHERE n.nspname = {literal(schema)} AND r.rolname IN ({', '.join(map(literal, sorted(roles)))})"
    )
