"""UNION, EXCEPT and INTERSECT, also of queries whose columns are not all known, and recursive queries."""

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

from sqlglot import exp

from lily.intake.sql.relations.columns import Field, Rest
from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.scopes import Common, Scope

MAX_ROUNDS = 8  # of a recursive query; each passes columns on once more


def united(query: exp.SetOperation, scope: Scope) -> Relation:
    """Reads the operands in a loop: a query may unite thousands."""
    by_name = bool(query.args.get("by_name"))
    (first, _), *others = _operands(query)
    result = scope.session.read(first, scope)
    for operand, is_except in others:
        read = scope.session.read(operand, scope)
        result = _without(result, read) if is_except else unite(result, read, by_name=by_name)
    return result


def _operands(query: exp.SetOperation) -> list[tuple[exp.Expr, bool]]:
    """Each with whether its rows are taken away from those before it."""
    found: list[tuple[exp.Expr, bool]] = []
    node: exp.Expr = query
    while isinstance(node, exp.SetOperation) and (node is query or not node.args.get("with_")):
        found.append((node.expression, isinstance(node, exp.Except)))
        node = node.this
    return [(node, False), *reversed(found)]


def _without(left: Relation, right: Relation) -> Relation:
    """EXCEPT: the rows on the right only decide which of those on the left remain."""
    decides = right.influences.union(*(field.origins for field in right.fields))
    return replace(left, tables=left.tables | right.tables, influences=left.influences | decides)


def unite(left: Relation, right: Relation, *, by_name: bool = False) -> Relation:
    result = Relation(tables=left.tables | right.tables, influences=left.influences | right.influences)
    result.every = left.every if right.every is None else right.every | (left.every or right.every)
    positions = [] if by_name else right.positions()
    is_positional = not by_name
    for at, item in enumerate(left.items):
        if isinstance(item, Rest):
            is_positional = False
        elif is_positional and at < len(positions):
            result.items.append(item.merged(positions[at]))
        else:
            match = right.find(item.name) if by_name or right.is_open else None
            result.items.append(item if match is None else item.merged(match.field))
    result.items += _rest(left, right, by_name=by_name)
    return result


def _rest(left: Relation, right: Relation, *, by_name: bool) -> Iterable[Field | Rest]:
    if not left.is_open and not by_name:
        return []
    names = {field.name for field in left.fields}
    unmatched = [] if right.is_open and not left.is_open else [f for f in right.fields if f.name not in names]
    if not by_name and left.is_open:
        unmatched = unmatched[len(left.positions()) :] if len(unmatched) == len(right.fields) else unmatched
    merged = [field.merged(found.field) if (found := left.find(field.name)) else field for field in unmatched]
    rests = [*left.rests, *right.rests]
    if len(left.rests) > 1 or len(right.rests) > 1 or not rests:
        return [*merged, *rests]
    tables = frozenset[str]().union(*(rest.tables for rest in rests))
    without = frozenset[str]().union(*(rest.without for rest in rests))
    return [*merged, Rest(tables, max(rest.openness for rest in rests), without)]


def recursive(query: exp.SetOperation, name: str, names: list[str], scope: Scope) -> Relation:
    """Reads the recursive term until it adds nothing: each round may pass a column on to another one."""
    anchor, *terms = (operand for operand, _ in _operands(query))
    known = _named(scope.session.read(anchor, scope), names)
    for _ in range(MAX_ROUNDS):
        scope.common[name] = _fixed(known)
        read = [known, *(scope.session.read(term, scope) for term in terms)]
        grown = _named(reduce(unite, read), names)
        if grown.items == known.items and grown.influences == known.influences:
            break
        known = grown
    return known


def _named(relation: Relation, names: list[str]) -> Relation:
    if names and len(relation.positions()) == len(names) and not relation.is_open:
        relation.items = [field.renamed(name) for field, name in zip(relation.fields, names, strict=True)]
    return relation


def _fixed(relation: Relation) -> Common:
    return Common(lambda: relation)
