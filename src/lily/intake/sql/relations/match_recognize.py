"""MATCH_RECOGNIZE: rows that match a pattern of rows."""

import re

from sqlglot import exp

from lily.intake.sql.relations.columns import Field, Rest
from lily.intake.sql.relations.expressions import Expressions
from lily.intake.sql.relations.names import alias_of
from lily.intake.sql.relations.relation import Relation
from lily.intake.sql.relations.scopes import Scope, Source

_NAME = re.compile(r"[^\W\d]\w*")


def matched_rows(match: exp.MatchRecognize, scope: Scope, expressions: Expressions) -> Source:
    """One row per match has the columns of PARTITION BY and of MEASURES; all rows have their own as well. The names in
    the pattern stand for rows: `b.price`."""
    named = {source.name for source in scope.sources}
    if len(scope.sources) == 1:
        rows = scope.sources[0].relation
        patterns = dict.fromkeys(_NAME.findall(str(match.args.get("pattern") or "").lower()))
        scope.sources += [Source(name, (), rows, in_star=False) for name in patterns if name not in named]
    partition = match.args.get("partition_by") or []
    measures = [measure.this for measure in match.args.get("measures") or ()]
    items = list[Field | Rest](expressions.field(column, column.name.lower()) for column in partition)
    if "ALL ROWS" in str(match.args.get("rows") or "").upper():
        items = [item for source in scope.sources if source.in_star for item in source.relation.items]
    items += [expressions.field(measure, measure.alias_or_name.lower()) for measure in measures]
    conditions = [entry.this for entry in match.args.get("define") or ()]
    order = match.args.get("order")
    expressions.influence(*conditions, *(order.expressions if order is not None else ()))
    return Source(alias_of(match), (), Relation(items))
