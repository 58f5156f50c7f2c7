"""Expands `*`, `t.*` and their EXCEPT, REPLACE and RENAME."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from lily.intake.sql.relations.columns import Field, Rest
from lily.intake.sql.relations.elements import fields_of
from lily.intake.sql.relations.names import identifier_name
from lily.intake.sql.relations.scopes import Scope

Items = list[Field | Rest]
Read = Callable[[exp.Expr, str], Field]  # of an item of the SELECT list


def star_of(item: exp.Expr) -> exp.Star | None:
    inner = _inner(item)
    star = inner.this if isinstance(inner, exp.Column) else inner.expression if isinstance(inner, exp.Dot) else inner
    return star if isinstance(star, exp.Star) else None


def expand(item: exp.Expr, star: exp.Star, scope: Scope, read: Read) -> Items:
    items = list(_passed_on(_inner(item), scope, read))
    for entry in items:
        if isinstance(entry, Rest):
            scope.session.stars |= dict.fromkeys(sorted(entry.tables))
    changes = _changes(star, read)
    return [*(_changed(entry, changes) for entry in items if not changes.drops(entry)), *_of_rests(items, changes)]


@dataclass(frozen=True, slots=True)
class _Changes:
    without: frozenset[str]
    renamed: dict[str, str]
    replaced: dict[str, Field]

    def drops(self, entry: Field | Rest) -> bool:
        return isinstance(entry, Field) and entry.name in self.without


def _changes(star: exp.Star, read: Read) -> _Changes:
    replaced = {alias.alias.lower(): alias for alias in star.args.get("replace") or ()}
    return _Changes(
        frozenset(_name(column) for column in star.args.get("except_") or ()),
        {_name(alias.this): alias.alias.lower() for alias in star.args.get("rename") or ()},
        {name: read(alias, name) for name, alias in replaced.items()},
    )


def _passed_on(item: exp.Expr, scope: Scope, read: Read) -> Iterator[Field | Rest]:
    if isinstance(item, exp.Dot):  # PostgreSQL: `(orders.address).*`
        yield from _of_struct(item.this, scope, read)
        return
    if isinstance(item, exp.Column):
        parts = [identifier_name(part) for part in item.parts[:-1]]
        found = scope.source([*parts, "*"])
        if found is None or len(found[1]) > 1:
            yield from _of_struct(_without_star(item), scope, read)
        else:
            yield from found[0].items
        return
    done: set[str] = set()
    for source in scope.sources:
        for entry in source.relation.items if source.in_star else ():
            if isinstance(entry, Field) and entry.name in scope.merged:
                if entry.name not in done:
                    done.add(entry.name)
                    yield scope.merged[entry.name]
            else:
                yield entry


def _of_struct(struct: exp.Expr, scope: Scope, read: Read) -> Items:
    """The fields that the query or the catalogue has of a struct. Of a table of which all columns are listed, the
    catalogue has all fields too."""
    found, tables = read(struct, ""), scope.session.tables
    fields = fields_of(found, scope.session)
    are_all = found.parts is not None or all(tables.ordered_columns(column.table) for column in found.origins)
    if found.origins and not (fields and are_all):
        shown = f"the fields of {struct.sql()} that * shows are {'not all' if fields else 'not'} known"
        scope.session.notes[shown] = None
    return [*fields.values(), *found.rests]


def _without_star(item: exp.Column) -> exp.Expr:
    parts = dict(zip(("this", "table", "db", "catalog"), reversed(item.parts[:-1]), strict=False))
    return exp.Column(**{name: part.copy() for name, part in parts.items()})


def _changed(entry: Field | Rest, changes: _Changes) -> Field | Rest:
    if isinstance(entry, Rest):
        named = changes.without | changes.renamed.keys() | changes.replaced.keys()
        return replace(entry, without=entry.without | named)
    if entry.name in changes.replaced:
        return changes.replaced[entry.name]
    return entry.renamed(changes.renamed.get(entry.name, entry.name))


def _of_rests(items: Items, changes: _Changes) -> Items:
    """The columns that RENAME and REPLACE name among unknown ones. Their position is not known."""
    known = {entry.name for entry in items if isinstance(entry, Field)}
    rests = [entry for entry in items if isinstance(entry, Rest)]
    if len(rests) != 1:
        return []
    renamed = [rests[0].field(old).renamed(new) for old, new in changes.renamed.items() if old not in known]
    return [*renamed, *(field for name, field in changes.replaced.items() if name not in known)]


def _inner(item: exp.Expr) -> exp.Expr:
    """DuckDB: `columns(*)` is `*`."""
    return item.this if isinstance(item, exp.Columns) else item


def _name(column: exp.Expr) -> str:
    return column.name.lower()
