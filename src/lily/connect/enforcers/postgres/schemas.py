"""The schemas of masking views, and USAGE of all schemas for those who may read something in them."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from lily.connect.enforcers.postgres.catalogue import MARK, Catalogue
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
        """The schemas that are missing, and USAGE for roles that do not have it in any way."""
        result = Comparison()
        for name in sorted(self._needed):
            schema = self._catalogue.schemas.get(name)
            if schema is None:
                result.steps.append(Step((), f"CREATE SCHEMA IF NOT EXISTS {quoted(name)}"))
                result.steps.append(Step((), f"COMMENT ON SCHEMA {quoted(name)} IS {literal(MARK)}"))
            usable = schema.usable_by if schema else frozenset()
            missing = sorted(self._roles.name(oid) for oid in self._needed[name] - usable)
            if missing:
                result.steps += self._usage(name, f"GRANT USAGE ON SCHEMA {quoted(name)} TO {listed(missing)}")
                result.steps += self._usage(
                    name, f"INSERT INTO {_USAGES} {_keys(name, missing)} ON CONFLICT DO NOTHING"
                )
                text = f"{', '.join(missing)} cannot use the schema {name}"
                result.deviations.append(((self._catalogue.database, name), text, "USAGE of the schema"))
        return result

    def withdrawn(self) -> Comparison:
        """USAGE that Lily has granted and nobody needs any more."""
        names = {schema.oid: name for name, schema in self._catalogue.schemas.items()}
        surplus: dict[str, list[str]] = defaultdict(list)
        for schema, role in self._catalogue.usages:
            if role not in self._needed.get(names[schema], ()):
                surplus[names[schema]].append(self._roles.name(role))
        result = Comparison()
        for name, roles in sorted(surplus.items()):
            result.steps += self._usage(name, f"REVOKE USAGE ON SCHEMA {quoted(name)} FROM {listed(sorted(roles))}")
            result.steps += self._usage(name, f"DELETE FROM {_USAGES} WHERE (schema, role) IN ({_keys(name, roles)})")
            found = f"{', '.join(sorted(roles))} can use the schema {name}"
            result.deviations.append(((self._catalogue.database, name), found, "no USAGE, as before Lily"))
        return result

    def dropped(self, needed: Collection[str]) -> Comparison:
        """Schemas without a masking view. One in which someone else has made something stays."""
        lilys = {kept.view for kept in self._catalogue.kept.values()}
        foreign = {schema for (schema, _), one in self._catalogue.views.items() if one.oid not in lilys}
        result = Comparison()
        for name, schema in sorted(self._catalogue.schemas.items()):
            if schema.is_own and name not in needed and name not in foreign:
                result.steps += self._usage(name, f"DROP SCHEMA IF EXISTS {quoted(name)}")
                path = self._catalogue.database, name
                result.deviations.append((path, f"the schema {name} of masking views", "no masking view in it"))
        return result

    def _usage(self, schema: str, statement: str) -> list[Step]:
        return [Step((self._catalogue.database, schema), statement)]


_USAGES = f"{BOOKKEEPING}.usages"  # Lily takes back only what it has granted


def _keys(schema: str, roles: Sequence[str]) -> str:
    return (
        "SELECT n.oid, r.oid FROM pg_namespace AS n, pg_roles AS r "
        f"WHERE n.nspname = {literal(schema)} AND r.rolname IN ({', '.join(map(literal, sorted(roles)))})"
    )
