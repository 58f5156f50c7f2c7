"""Masks and row filters as SQL of Trino, for everyone who is shown an item of Ranger.

Ranger takes the first item that applies to a user, where Lily takes all row filters that do. So an expression has the
filters of the items after it as well, each for those whom it is about: Trino knows the user and the groups.
In masks `{col}` and `{type}` stand for the column and its type, which Trino's plug-in fills in.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from lily.enforce.ranger.subjects import Keys, Members, Subjects
from lily.enforce.trino.identifiers import literal
from lily.enforce.trino.masks import DIALECT, masked
from lily.enforce.trino.types import ColumnType, Family
from lily.policy import Mask, RowFilter
from lily.policy.names import EVERYONE

Filters = Sequence[tuple[RowFilter, Keys]]
NULL = "NULL"
COLUMN, TYPE = '"{col}"', "{type}"
MAX_NAMES = 2_000  # that an expression compares; with more, the row filter applies to everyone who is shown the item
MAX_KEPT = 256  # checks of members: many tables have the same row filters
_FAMILIES: dict[Family, str] = {
    "text": "varchar char character nvarchar nchar varchar2 nvarchar2 bpchar text citext string tinytext mediumtext "
    "longtext clob",
    "integer": "tinyint smallint int integer bigint int2 int4 int8 int16 int32 int64 long short serial bigserial",
    "decimal": "decimal numeric number",
    "floating": "double real float float4 float8 float32 float64",
    "boolean": "boolean bool",
    "date": "date",
    "timestamp": "timestamp timestamptz timestamp_ntz timestamp_tz timestamp_ltz datetime",
    "uuid": "uuid",
    "binary": "varbinary binary bytea blob bytes",
}
_FAMILY_OF: dict[str, Family] = {name: family for family, names in _FAMILIES.items() for name in names.split()}
_TYPE = re.compile(r"\s*([a-z_][a-z0-9_]*)(?: varying| precision)?\s*(?:\(\s*\w+(?:\s*,\s*\w+)?\s*\))?(?: \D*)?")


def family_of(data_type: str) -> Family | None:
    """Of a type as a source writes it; None if it is unknown."""
    known = _TYPE.fullmatch(data_type.lower())
    return _FAMILY_OF.get(known[1]) if known is not None else None


def mask_expression(family: Family | None, mask: Mask | None, condition: str = "") -> str:
    """What takes the place of a column in the rows that meet the condition; NULL in the others, where the type is not
    known and where it cannot take the mask. A type that the catalogue states wrongly makes it NULL or an error."""
    if "{" in condition:  # the plug-in would replace something in it
        return NULL
    if mask is None:
        return f"CASE WHEN {condition} THEN {COLUMN} END"
    shown = None if family is None else masked(COLUMN, ColumnType(TYPE, family), _plain(mask))
    if shown is None:
        return NULL
    return f"TRY_CAST({f'CASE WHEN {condition} THEN {shown} END' if condition else shown} AS {TYPE})"


def _plain(mask: Mask) -> Mask:
    """A fixed value in which the plug-in would replace something becomes NULL."""
    return Mask("replace-with-null") if isinstance(mask.value, str) and "{" in mask.value else mask


def condition(filters: Filters, subjects: Subjects) -> str:
    """What the rows must meet that a user is shown: each of the filters, if it is about the user."""
    return " AND ".join(f"({_guarded(one, keys, subjects)})" for one, keys in filters)


def first_of_several(filters: Filters, subjects: Subjects) -> list[tuple[Keys, str]]:
    """Items, each with a condition. The first that applies to a user has all filters that do."""
    general = [one for one in filters if EVERYONE in one[1]]
    special = [one for one in filters if EVERYONE not in one[1]]
    items = []
    for place, (row_filter, keys) in enumerate(special):
        own = (row_filter, frozenset({EVERYONE}))  # everyone to whom this item applies
        items.append((keys, condition([*general, own, *special[place + 1 :]], subjects)))
    if general:
        items.append((frozenset({EVERYONE}), condition(general, subjects)))
    return items


def _guarded(row_filter: RowFilter, keys: Keys, subjects: Subjects) -> str:
    written = row_filter.render(DIALECT)
    if EVERYONE in keys:
        return written
    members = subjects.members(keys)
    if len(members.users) + len(members.groups) > MAX_NAMES:
        return written
    check = _is_member(members)
    return f"NOT ({check}) OR ({written})" if check else "true"


@lru_cache(maxsize=MAX_KEPT)
def _is_member(members: Members) -> str:
    """Empty if nobody is one."""
    checks = [f"lower(current_user) IN ({_listed(members.users)})"] if members.users else []
    if members.groups:
        checks.append(f"any_match(current_groups(), g -> lower(g) IN ({_listed(members.groups)}))")
    return " OR ".join(checks)


def _listed(names: frozenset[str]) -> str:
    return ", ".join(literal(name) for name in sorted(names))
