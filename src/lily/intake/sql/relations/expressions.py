"""The columns that the value of an expression comes from."""

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from lily.intake.sql.relations.clickhouse import dictionary_entry
from lily.intake.sql.relations.columns import NO_ORIGINS, Column, Field, Match, Origins
from lily.intake.sql.relations.elements import array_of, fields_of, mapped, value_of
from lily.intake.sql.relations.names import identifier_name
from lily.intake.sql.relations.paths import JSON_PATHS, Path, path_of, subscripts
from lily.intake.sql.relations.relation import Relation, best
from lily.intake.sql.relations.scopes import Scope
from lily.intake.sql.relations.stars import expand, star_of

_SEQUENCE = frozenset({"nextval", "currval", "$action"})


class Expressions:
    """Reads the expressions of one query. What subqueries read is added to the query's relation."""

    def __init__(self, scope: Scope, relation: Relation) -> None:
        self._scope = scope
        self._relation = relation

    def field(self, expression: exp.Expr, name: str) -> Field:
        """An item of the SELECT list."""
        value = expression.unalias().unnest() if not isinstance(expression, exp.Subquery) else expression
        element, path = self._struct(value) or self.element(value), path_of(value)
        if element is None and path is not None and not isinstance(value, JSON_PATHS):
            element = self._referenced(path)
        return Field(name, self.origins(value)) if element is None else element.renamed(name)

    def _struct(self, value: exp.Expr) -> Field | None:
        """A struct that the query builds, an array of them, and a row that is used as one."""
        inner = value_of(value)
        if isinstance(inner, exp.Struct):
            return Field("", self.origins(value), parts=self._parts(inner))
        if inner is not value and isinstance(inner, exp.Column) and len(inner.parts) == 1:
            row = self._row(identifier_name(inner.parts[0]))
            return None if row is None else replace(row, origins=self.origins(value))
        if isinstance(value, exp.Dot) and isinstance(value.expression, exp.Identifier) and path_of(value) is None:
            return self.below(self.field(value.this, ""), [value.expression.name.lower()])
        return None

    def element(self, function: exp.Expr) -> Field | None:
        """What the rows of `unnest(items)` have, if their fields can be told apart."""
        array = array_of(function)
        field = self.field(array, "") if array is not None else None
        return field if field is not None and (field.copied or field.parts) else None

    def fields_of(self, element: Field) -> Mapping[str, Field]:
        return fields_of(element, self._scope.session)

    def origins(self, *expressions: exp.Expr, stored: bool = True) -> Origins:
        """`stored`: whether it is a value of a row, and not a condition."""
        found: set[Column] = set()
        pending = list(expressions)
        while pending:
            node = pending.pop()
            path, star = path_of(node), star_of(node)
            if star is not None:
                found |= self._of_star(node, star)
            elif path is not None:
                field = self._referenced(path, stored=stored)
                found |= self._with_nested(field) if field is not None else NO_ORIGINS
                pending += subscripts(node)
            elif isinstance(node, exp.Dot) and isinstance(node.expression, exp.Identifier):
                found |= self._with_nested(self.below(self.field(node.this, ""), [node.expression.name.lower()]))
            elif isinstance(node, exp.Query | exp.DML):
                found |= self._subquery(node)
            elif isinstance(node, exp.Parameter | exp.Placeholder):
                self._use_variable(node.name.lower(), stored=stored)
            elif isinstance(node, exp.Anonymous) and (entry := dictionary_entry(node)) is not None:
                found.add(self._looked_up(*entry))
                pending += node.expressions[2:]
            elif isinstance(node, exp.In) and node.args.get("query") is not None:
                pending.append(node.this)
                self._relation.influences |= self._subquery(node.args["query"])
            else:
                pending += self._values(node)
        return frozenset(found)

    def _values(self, node: exp.Expr) -> list[exp.Expr]:
        """What the value of an operator or a function is made from."""
        match node:
            case exp.Count():
                return [value for value in node.iter_expressions() if not self._is_row(value)]
            case exp.Window() | exp.WithinGroup() | exp.Order():
                return self._ordered(node)
            case exp.Columns():
                self._scope.session.notes["the columns that COLUMNS(…) selects are not followed"] = None
                return []
            case exp.Transform() | exp.Comprehension():
                return mapped(node)
            case exp.Exists():
                self._read(node.this)
                return []
        return list(node.iter_expressions())

    def influence(self, *conditions: exp.Expr | None) -> None:
        """The columns of a condition select the rows."""
        self._relation.influences |= self.origins(*filter(None, conditions), stored=False)

    def _ordered(self, node: exp.Window | exp.WithinGroup | exp.Order) -> list[exp.Expr]:
        """The values of a function whose rows are ordered. A window decides which rows they are taken from; the order
        within an aggregate does not count, unless the function is about what is ordered: `percentile_cont(0.5)`."""
        values = [node.this] if isinstance(node.this, exp.Expr) else []
        if isinstance(node, exp.Window) and str(node.args.get("over")).upper() != "KEEP":
            self.influence(*node.args.get("partition_by") or (), *_keys(node.args.get("order")))
        if isinstance(node, exp.WithinGroup) and not _aggregates(node.this):
            values += _keys(node.expression)
        return values

    def _of_star(self, item: exp.Expr, star: exp.Star) -> Origins:
        """Of `object_construct(*)` and `row_to_json(t.*)`."""
        return NO_ORIGINS.union(*(self._with_nested(field) for field in self._expanded(item, star)))

    def _expanded(self, item: exp.Expr, star: exp.Star) -> list[Field]:
        parts = [identifier_name(part) for part in item.parts] if isinstance(item, exp.Column) else []
        source = self._scope.source(parts) if parts else None
        if parts and (source is None or len(source[1]) > 1):  # `struct(t.address.*)` of a struct
            field = self._resolved(parts[:-1], [])
            if field is not None:
                return [field]
        return [field for field in expand(item, star, self._scope, self.field) if isinstance(field, Field)]

    def _is_row(self, value: exp.Expr) -> bool:
        """Whether `count(…)` of it counts rows."""
        if isinstance(value, exp.Column) and len(value.parts) == 1 and not isinstance(value.this, exp.Star):
            return self._row_of(value.name.lower()) is not None
        return star_of(value) is not None

    def _with_nested(self, field: Field) -> Origins:
        """A struct that is used as a whole shows all of its fields."""
        if not field.copied:
            return field.origins
        below = self._scope.session.tables.fields_below
        return field.origins | {Column(c.table, f"{c.name}.{path}") for c in field.origins for path in below(c)}

    def _subquery(self, query: exp.Expr) -> Origins:
        return NO_ORIGINS.union(*(field.origins for field in self._read(query).fields))

    def _looked_up(self, table: exp.Table, attribute: str) -> Column:
        key = self._scope.session.key(table)
        self._relation.tables[key] = None
        return Column(key, attribute)

    def _read(self, query: exp.Expr) -> Relation:
        read = self._scope.session.read(query, self._scope)
        self._relation.reads(read)
        return read

    def _use_variable(self, name: str, *, stored: bool) -> None:
        if stored and name in self._scope.session.queried:
            self._scope.session.notes[f"the value of the variable {name}, which a query sets, is not followed"] = None

    def _referenced(self, path: Path, *, stored: bool = True) -> Field | None:
        parts = [identifier_name(part) for part in path.column.parts]
        if isinstance(path.column.this, exp.Star | exp.Parameter):
            self._use_variable(path.column.name.lower(), stored=stored)
            return None
        below = [name.lower() for name in path.below]
        if parts[-1] in _SEQUENCE and len(parts) > 1:
            return None
        found = self._resolved(parts, below)
        if found is None and self._scope.is_defined_elsewhere(parts[0]):
            self._use_variable(parts[0], stored=stored)
        elif found is None:
            self._scope.session.unknown[".".join(parts)] = None
        return found

    def _resolved(self, parts: list[str], below: list[str]) -> Field | None:
        source = self._source(parts) if len(parts) > 1 else None
        if source is not None:
            relation, (name, *rest) = source
            match = relation.find(name)
            if match is None:
                return None
            self._scope.used(match.field)
            return self.below(match.field, [*rest, *below])
        if len(parts) == 1 and not below and (row := self._row(parts[0])) is not None:
            return row
        field = self._scope.column(parts[0])
        return None if field is None else self.below(field, [*parts[1:], *below])

    def _source(self, parts: list[str]) -> tuple[Relation, list[str]] | None:
        found = self._scope.source(parts)
        if found is None and parts[0] in self._scope.session.rows:
            rows = self._scope.session.rows[parts[0]]()
            self._relation.reads(rows)
            return rows, parts[1:]
        return found

    def _row(self, name: str) -> Field | None:
        relation = self._row_of(name)
        if relation is None:
            return None
        for rest in relation.rests:
            self._scope.session.stars |= dict.fromkeys(sorted(rest.tables))
        origins = NO_ORIGINS.union(*(field.origins for field in relation.fields))
        parts = {field.name: field for field in relation.fields}
        return Field(name, origins, parts=parts, rests=tuple(relation.rests))

    def _row_of(self, name: str) -> Relation | None:
        relation = self._scope.whole_row(name)
        return None if relation is None or self._scope.has(name) else relation

    def below(self, field: Field, path: list[str]) -> Field:
        """The field at a path below a struct."""
        while path and field.parts and path[0] in field.parts:
            field, path = field.parts[path[0]], path[1:]
        if path and (rest := best(Match(rest.openness, rest.field(path[0])) for rest in field.rests)) is not None:
            field, path = rest.field, path[1:]
            self._scope.used(field)
        if not path or not field.copied:
            return field if not path else Field(field.name, field.origins)
        column = self._scope.session.tables.nested(next(iter(field.origins)), path)
        return Field(path[-1], frozenset({column}), copied=column.name.endswith(path[-1]))

    def _parts(self, struct: exp.Struct) -> dict[str, Field]:
        """The fields of `struct(email as mail, id)`."""
        parts: dict[str, Field] = {}
        for entry in struct.expressions:
            if (star := star_of(entry)) is not None:
                parts |= {field.name: field for field in self._expanded(entry, star)}
                continue
            value = entry.expression if isinstance(entry, exp.PropertyEQ) else entry.unalias()
            name = (entry.this.name if isinstance(entry, exp.PropertyEQ) else entry.alias_or_name).lower()
            parts[name] = self.field(value, name)
        return parts


def _aggregates(function: exp.Expr) -> bool:
    """Whether a function before WITHIN GROUP has the values as its argument."""
    return not isinstance(function, exp.PercentileCont | exp.PercentileDisc) and function.find(exp.Column) is not None


def _keys(order: exp.Expr | None) -> list[exp.Expr]:
    return list(order.expressions) if order is not None else []
