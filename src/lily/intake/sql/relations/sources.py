"""The sources of a query: tables, common table expressions, subqueries, functions and joins of them."""

from sqlglot import exp

from lily.intake.sql.relations.clickhouse import remote_table
from lily.intake.sql.relations.columns import NO_ORIGINS, Field, Rest
from lily.intake.sql.relations.expressions import Expressions
from lily.intake.sql.relations.functions import files_of, function_relation, is_function, own_function, query_text
from lily.intake.sql.relations.names import alias_columns, alias_of, location_of, name_parts
from lily.intake.sql.relations.pivots import pivoted
from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.scopes import Scope, Source

_NOT_IN_STAR = frozenset({"SEMI", "ANTI"})


class Sources:
    """Adds the sources of one query to its scope, and what they read to its relation."""

    def __init__(self, scope: Scope, relation: Relation) -> None:
        self._scope = scope
        self._relation = relation
        self._expressions = Expressions(scope, relation)

    def add(self, source: exp.Expr, *, in_star: bool = True) -> None:
        while isinstance(source, exp.Final | exp.Stream):  # of ClickHouse, of Databricks
            source = source.this
        if _is_parenthesized(source):
            self.add(source.this, in_star=in_star)
        else:
            relation = self._with_alias(source, self._pivoted(source, self._read(source)))
            self._relation.reads(relation)
            table = source.name.lower() if isinstance(source, exp.Table) else ""
            self._scope.sources.append(Source(*_names(source), relation, in_star, table))
        for join in source.args.get("joins") or ():
            self.join(join)
        for lateral in source.args.get("laterals") or ():
            self.add(lateral)

    def join(self, join: exp.Join) -> None:
        before = len(self._scope.sources)
        if str(join.kind).upper() == "ARRAY":
            self._array_join(join)
            return
        self.add(join.this, in_star=str(join.kind).upper() not in _NOT_IN_STAR)
        using = [column.name.lower() for column in join.args.get("using") or ()]
        if str(join.args.get("method") or "").upper() == "NATURAL":
            using = self._shared_names(before)
        for name in using:
            self._merge(name, before, str(join.side or "").upper())
        self._expressions.influence(join.args.get("on"), join.args.get("match_condition"))

    def _read(self, source: exp.Expr) -> Relation:
        if (files := files_of(source)) is not None:
            return self._scope.session.tables.relation(files)
        if (remote := remote_table(source)) is not None:
            source = remote
        if is_function(source):
            if (query := query_text(source)) is not None:
                self._scope.session.notes[f"the query in the string {query[:60]!r} is not followed"] = None
            if (name := own_function(source)) is not None:
                self._scope.session.notes[f"what the function {name} reads is not followed"] = None
            return function_relation(source, self._expressions)
        if isinstance(source, exp.Table):
            return self._table(source)
        if isinstance(source, exp.Lateral):
            return self._read(source.this)
        return self._scope.session.read(source, self._scope)

    def _table(self, table: exp.Table) -> Relation:
        parts = name_parts(table)
        if len(parts) == 1 and (common := self._scope.common_table(parts[0])) is not None:
            return common.relation()
        if parts == ["dual"]:
            return Relation(every=NO_ORIGINS)
        session = self._scope.session
        if len(parts) > 1 and self._scope.sources and (found := self._scope.source(parts)) is not None:
            field = found[0].find(found[1][0])  # BigQuery: `from t, t.items`
            if field is not None:
                element = self._expressions.below(field.field, found[1][1:])
                fields = self._expressions.fields_of(element)
                name = alias_of(table) or element.name
                return Relation([element.renamed(name)], every=element.origins, parts=fields)
        key = session.key(table)
        session.named[key] = location_of(table) or ".".join(part.name for part in table.parts)
        return session.tables.relation(key)

    def _pivoted(self, source: exp.Expr, relation: Relation) -> Relation:
        for pivot in source.args.get("pivots") or ():
            relation = pivoted(pivot, relation, self._scope)
        return relation

    def _with_alias(self, source: exp.Expr, relation: Relation) -> Relation:
        names = alias_columns(source)
        if not names or is_function(source) or (isinstance(source, exp.Lateral) and is_function(source.this)):
            return relation
        positions = relation.positions()
        items: list[Field | Rest] = [field.renamed(name) for field, name in zip(positions, names, strict=False)]
        items += relation.items[len(items) :] if len(names) >= len(items) else []
        known = {item.name for item in items if isinstance(item, Field)}
        items += [Field(name) for name in names if name not in known]
        return Relation(items, relation.tables, relation.influences, relation.hidden, relation.every)

    def _merge(self, name: str, before: int, side: str) -> None:
        """A column of USING is that of both sides, or of the side whose rows are all kept."""
        sources = self._scope.sources
        left = [found.field for s in sources[:before] if (found := s.relation.find(name)) is not None]
        right = [found.field for s in sources[before:] if (found := s.relation.find(name)) is not None]
        kept = {"LEFT": left, "RIGHT": right}.get(side) or [*left, *right]
        for field in [*left, *right]:
            self._scope.used(field)
            self._relation.influences |= field.origins
        if name in self._scope.merged and side == "LEFT":
            return
        origins = frozenset(column for field in kept for column in field.origins)
        self._scope.merged[name] = Field(name, origins, copied=len(origins) == 1)

    def _shared_names(self, before: int) -> list[str]:
        sources = self._scope.sources
        left = {field.name for source in sources[:before] for field in source.relation.fields}
        right = [field.name for source in sources[before:] for field in source.relation.fields]
        return [name for name in right if name in left]

    def _array_join(self, join: exp.Join) -> None:
        """ClickHouse: the elements of an array under the name of its column or of an alias."""
        for array in (join.this, *join.expressions):
            value = exp.column(array.this.copy()) if isinstance(array, exp.Table) else array
            name = (array.alias or array.name).lower()
            self._scope.merged[name] = self._expressions.field(value, name)


def _is_parenthesized(source: exp.Expr) -> bool:
    """A table or a join in parentheses, of which there may be any number: the names inside can be used outside."""
    if not isinstance(source, exp.Subquery) or alias_of(source) or source.args.get("with_"):
        return False
    return isinstance(source.this, exp.Table | exp.Subquery)


def _names(source: exp.Expr) -> tuple[str, tuple[str, ...]]:
    alias = alias_of(source)
    if alias:
        return alias, ()
    if isinstance(source, exp.Table):
        parts = name_parts(source)
        return (parts[-1] if parts else ""), tuple(parts)
    return "", ()
