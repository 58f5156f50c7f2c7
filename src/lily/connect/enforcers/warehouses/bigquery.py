"""`bigquery`: a row access policy per table, data policies on columns, and grants, as a script.

Grants add up in BigQuery: a member of two groups has the more permissive of both, and no policy can ask for groups. So
groups have together what the strictest of all subjects has, users what was decided for them.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import BaseModel, ConfigDict, Field
from sqlglot import exp

from lily.connect.enforcers.access import CLEAR, DENIED, Cell, stricter, union
from lily.connect.enforcers.warehouses.row_filters import Unusable, filter_columns, written
from lily.connect.enforcers.warehouses.scripts import Scripted, Verb, own_name
from lily.connect.enforcers.warehouses.tables import Column, Needs, Sight, Subject, WarehouseTable
from lily.connect.enforcers.warehouses.types import ColumnType, Family, parse_type

DIALECT = "bigquery"
RAW, NOTHING = "raw", "ALWAYS_NULL"
ROW_POLICY = "lily_rows"
USER = "LOWER(SESSION_USER())"
MAX_POLICIES = 8  # of one column
_NAME = re.compile(r"[^`\\\x00-\x1f]+")  # what a column's name can consist of
_ESCAPES = {"\\": "\\\\", "'": "\\'", '"': '\\"', "`": "\\`", "\n": "\\n", "\r": "\\r"}
_ESCAPED = re.compile("[\\\\'\"`\n\r]")
_TIMES: frozenset[Family] = frozenset({"date", "timestamp"})
_TEXTS: frozenset[Family] = frozenset({"text"})
_HASHED: frozenset[Family] = frozenset({"text", "binary"})
_FIXED: frozenset[Family] = frozenset({"text", "number", "boolean", "binary", "date", "timestamp"})
# The rules that BigQuery has, and the types for which they are the mask. Any other combination is NULL.
_RULES: dict[str, tuple[str, frozenset[Family]]] = {
    "mask-to-fixed-value": ("DEFAULT_MASKING_VALUE", _FIXED),
    "sha-256-global": ("SHA256", _HASHED),
    "truncate-to-year": ("DATE_YEAR_MASK", _TIMES),
    "show-last-4": ("LAST_FOUR_CHARACTERS", _TEXTS),
    "show-first-4": ("FIRST_FOUR_CHARACTERS", _TEXTS),
}


class BigQueryConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    location: str = Field("us", pattern=r"^[a-z0-9-]+$", description="of the data policies: the datasets' location")
    domain: str = Field("", pattern=r"^[A-Za-z0-9.-]*$", description="added to names without one: ann@example.com")
    grants: bool = Field(True, description="whether to grant and revoke roles/bigquery.dataViewer on tables")


def literal(text: str) -> str:
    return f'"{_escaped(text)}"'


def quoted(*names: str) -> str:
    return "`" + ".".join(map(_escaped, names)) + "`"


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], text)


class BigQuery(Scripted):
    Config = BigQueryConfig
    _parts = "project.dataset.table"

    def __init__(self, config: BigQueryConfig) -> None:
        self._config = config

    def _needs(self) -> Needs:
        return Needs(lambda text: parse_type(text, DIALECT), _flaw, types=False)

    def _prepared(self, tables: Sequence[WarehouseTable]) -> Iterable[str]:  # noqa: ARG002 - nothing is needed
        return ()

    def _statements(self, table: WarehouseTable) -> Iterator[str]:
        name, sights = quoted(*table.path), _without_leaks(table)
        yield from self._grants(table, "REVOKE", sights)
        if table.is_withdrawn:
            yield f"DROP ALL ROW ACCESS POLICIES ON {name}"
        else:
            yield self._rows(table, sights)
            for place, column in enumerate(table.columns):
                yield from self._mask(table, place, column, sights)
        for released in table.released:
            yield f"ALTER TABLE IF EXISTS {name} ALTER COLUMN {quoted(released)} SET OPTIONS (data_policies = [])"
        yield from self._grants(table, "GRANT", [subject for subject, sight in sights.items() if not sight.denied])

    @property
    def _with_grants(self) -> bool:
        return self._config.grants

    def _grant(self, table: WarehouseTable, verb: Verb, subject: Subject) -> str:
        kind, preposition = table.noun, "TO" if verb == "GRANT" else "FROM"
        begin = f"{verb} `roles/bigquery.dataViewer` ON {kind} {quoted(*table.path)}"
        return f"{begin} {preposition} {literal(self._member(subject))}"

    def _rows(self, table: WarehouseTable, sights: Mapping[Subject, Sight]) -> str:
        """One policy, so that it is replaced in one step. Without a grantee nobody sees a row."""
        allowed = [subject for subject, sight in sights.items() if not sight.denied]
        begin = f"CREATE OR REPLACE ROW ACCESS POLICY {ROW_POLICY} ON {quoted(*table.path)}"
        if not allowed:
            return f"{begin} FILTER USING (FALSE)"
        users = [subject for subject in sights if subject.kind == "user"]
        conditions = _by_filters([subject for subject in allowed if subject.kind == "user"], sights)
        parts = [f"({USER} IN ({self._listed(of)}) AND {_filter(one)})" for one, of in conditions.items()]
        for subject in [subject for subject in allowed if subject.kind != "user"][:1]:  # groups are all alike
            others = f"{USER} NOT IN ({self._listed(users)}) AND " if users else ""
            parts.append(f"({others}{_filter(sights[subject].filters)})")
        grantees = ", ".join(literal(self._member(subject)) for subject in allowed)
        return f"{begin} GRANT TO ({grantees}) FILTER USING ({' OR '.join(parts)})"

    def _mask(
        self, table: WarehouseTable, place: int, column: Column, sights: Mapping[Subject, Sight]
    ) -> Iterator[str]:
        """The name of a data policy has a hash of its rule and its grantees: whom it is granted to never changes."""
        grantees: dict[str, list[Subject]] = defaultdict(list)
        for subject, sight in sights.items():
            if not sight.denied:
                grantees[_rule(sight.cells[place], column)].append(subject)
        if len(grantees) > MAX_POLICIES:
            table.note(f"the column {column.name!r} has more masks than BigQuery allows, so all of them are NULL")
            grantees = _merged(grantees)
        names = []
        for rule, subjects in sorted(grantees.items()):
            members = [self._principal(subject) for subject in subjects]
            policy = quoted(
                table.path[0], f"region-{self._config.location}", own_name(table.path, column.name, rule, *members)
            )
            options = (
                'data_policy_type = "RAW_DATA_ACCESS_POLICY"'
                if rule == RAW
                else f'data_policy_type = "DATA_MASKING_POLICY", masking_expression = "{rule}"'
            )
            yield f"CREATE DATA_POLICY IF NOT EXISTS {policy} OPTIONS ({options})"
            yield f"GRANT FINE_GRAINED_READ ON DATA_POLICY {policy} TO {', '.join(map(literal, members))}"
            names.append(policy.strip("`"))
        listed = ", ".join(literal(f"{{'name':'{name}'}}") for name in names)
        altered = f"ALTER TABLE {quoted(*table.path)} ALTER COLUMN {quoted(column.name)}"
        yield f"{altered} SET OPTIONS (data_policies = [{listed}])"

    def _address(self, subject: Subject) -> str:
        return (
            subject.name if "@" in subject.name or not self._config.domain else f"{subject.name}@{self._config.domain}"
        )

    def _member(self, subject: Subject) -> str:
        return f"{'user' if subject.kind == 'user' else 'group'}:{self._address(subject)}"

    def _principal(self, subject: Subject) -> str:
        place = "principal://goog/subject" if subject.kind == "user" else "principalSet://goog/group"
        return f"{place}/{self._address(subject)}"

    def _listed(self, users: Iterable[Subject]) -> str:
        return ", ".join(literal(self._address(subject).lower()) for subject in users)


def _flaw(row_filter: str, types: Mapping[str, ColumnType | None]) -> str:  # noqa: ARG001 - BigQuery knows the types
    try:
        for name in filter_columns(row_filter, DIALECT):
            if not _NAME.fullmatch(name):
                return f"BigQuery has no column {name!r}"
        _filter([row_filter])
    except Unusable as error:
        return str(error)
    return ""


def _filter(filters: Sequence[str]) -> str:
    parts = (f"({written(one, DIALECT, lambda name: exp.column(name, quoted=True))})" for one in filters)
    return " AND ".join(parts) or "TRUE"


def _without_leaks(table: WarehouseTable) -> dict[Subject, Sight]:
    """All groups together: the strictest of everybody's columns, and the filters of all groups. A user who sees no rows
    is kept from them by name, whatever the groups see."""
    groups = {subject: sight for subject, sight in table.sights.items() if subject.kind != "user"}
    users = {subject: sight for subject, sight in table.sights.items() if subject.kind == "user"}
    if not groups:
        return users
    if any(sight.denied for sight in groups.values()):
        shared = Sight((DENIED,) * len(table.columns), denied=True)
    else:
        readers = [*groups.values(), *(sight for sight in users.values() if not sight.denied)]
        cells = tuple(_strictest(sight.cells[place] for sight in readers) for place in range(len(table.columns)))
        shared = Sight(cells, union(*(sight.filters for sight in groups.values())))
    if any(sight != shared for sight in groups.values()):
        table.note(
            "groups see what the strictest of all sees: a member of two would otherwise have the more permissive of "
            "both; decide for users instead"
        )
    return users | dict.fromkeys(groups, shared)


def _strictest(cells: Iterable[Cell]) -> Cell:
    found = CLEAR
    for cell in cells:
        found = stricter(found, cell)
    return found


def _by_filters(subjects: Iterable[Subject], sights: Mapping[Subject, Sight]) -> dict[tuple[str, ...], list[Subject]]:
    found: dict[tuple[str, ...], list[Subject]] = defaultdict(list)
    for subject in subjects:
        found[sights[subject].filters].append(subject)
    return found


def _rule(cell: Cell, column: Column) -> str:
    if cell.is_clear:
        return RAW
    rule, families = _RULES.get(cell.mask, (NOTHING, frozenset()))
    return rule if not cell.denied and column.type is not None and column.type.family in families else NOTHING


def _merged(grantees: Mapping[str, list[Subject]]) -> dict[str, list[Subject]]:
    masked = sorted(subject for rule, subjects in grantees.items() if rule != RAW for subject in subjects)
    return {NOTHING: masked} | ({RAW: grantees[RAW]} if RAW in grantees else {})
