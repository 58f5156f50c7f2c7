"""The requests of Trino's OPA plug-in, parsed. Fields that Lily does not know are ignored: newer plug-ins send more."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any, NamedTuple, NoReturn

from lily.model.errors import Problem, Refused

NUL = "\x00"  # PostgreSQL would refuse it, and with it what other requests read at the same time
MAX_ITEMS = 20_000  # resources and columns in one request, which others wait for
MAX_NAME = 4_000  # characters. No asset has a longer name, and what is kept of requests is counted by names


_FILTERED = "input.action.filterResources"
_COLUMN_FIELDS = ("catalogName", "schemaName", "tableName", "columnName", "columnType")
_column_values = itemgetter(*_COLUMN_FIELDS)


Column = tuple[str, str, str, str, str]  # catalogue, schema, table, name and type, as `GetColumnMask` states them


class Resource(NamedTuple):
    """What an operation is about. `path` is the catalogue, the schema, the table or function, as far as it is given;
    `user` the owner of a query or whom a user wants to be."""

    path: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    user: str = ""
    column: Column | None = None


NOTHING = Resource()


@dataclass(frozen=True, slots=True)
class Request:
    """`filtered` are the objects of a list, `columns` those of a request for several masks."""

    user: str
    groups: tuple[str, ...]
    operation: str
    resource: Resource = NOTHING
    target: Resource = NOTHING  # of a renaming
    filtered: tuple[Resource, ...] = ()
    columns: tuple[Column, ...] = ()


def parse_request(body: Any) -> Request:
    """Raises Refused if it is not a request of the plug-in."""
    given = _object(_object(body, "body").get("input"), "input")
    identity = _object(_object(given.get("context"), "input.context").get("identity"), "input.context.identity")
    action = _object(given.get("action"), "input.action")
    listed = _list(action.get("filterResources"), _FILTERED)
    columns = _columns(listed)
    filtered = () if columns else tuple(_resource(one, _FILTERED) for one in listed)
    if sum(len(one.columns) for one in filtered) > MAX_ITEMS:
        _refuse_many(_FILTERED)
    return Request(
        _text(identity.get("user"), "input.context.identity.user"),
        tuple(_texts(identity.get("groups"), "input.context.identity.groups")),
        _text(action.get("operation"), "input.action.operation"),
        _resource(action.get("resource"), "input.action.resource"),
        _resource(action.get("targetResource"), "input.action.targetResource"),
        filtered,
        columns,
    )


def _columns(listed: list[Any]) -> tuple[Column, ...]:
    """If each of them is a column. A wide table has thousands, so all are checked at once; where one is wrong, the slow
    way finds out which."""
    try:
        found = [_column_values(one["column"]) for one in listed]
        text = "".join(chain.from_iterable(found))  # raises TypeError unless all are texts
    except (TypeError, KeyError):
        return ()
    if NUL in text or any("" in values for values in found):
        return ()
    return () if len(text) > MAX_NAME and any(map(_is_long, found)) else tuple(found)


def _is_long(column: Column) -> bool:
    """Whether a name of it is. The type of a row may be."""
    return max(map(len, column[:-1])) > MAX_NAME


def _resource(given: Any, where: str) -> Resource:
    if given is None:
        return NOTHING
    fields = _object(given, where)
    if (column := fields.get("column")) is not None:
        return Resource(column=_column(column, f"{where}.column"))
    user = fields.get("user")
    name = "" if user is None else _text(_object(user, f"{where}.user").get("user"), f"{where}.user.user")
    path, columns = _path(fields, where)
    return Resource(path, columns, name)


def _path(fields: dict[str, Any], where: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where an operation names a table and a function, as `ExecuteTableProcedure` does, it is about the table."""
    if (table := fields.get("table")) is not None:
        table, where = _object(table, f"{where}.table"), f"{where}.table"
        columns = tuple(_texts(table.get("columns"), f"{where}.columns"))
        return _named(table, where, "catalogName", "schemaName", "tableName"), columns
    if (schema := fields.get("schema")) is not None:
        return _named(_object(schema, f"{where}.schema"), f"{where}.schema", "catalogName", "schemaName"), ()
    if (function := fields.get("function")) is not None:
        function, where = _object(function, f"{where}.function"), f"{where}.function"
        inside = _object(function.get("catalogSchema"), f"{where}.catalogSchema")
        path = _named(inside, f"{where}.catalogSchema", "catalogName", "schemaName")
        return (*path, _text(function.get("functionName"), f"{where}.functionName")), ()
    if (catalog := fields.get("catalog")) is not None:
        return _named(_object(catalog, f"{where}.catalog"), f"{where}.catalog", "name"), ()
    if (setting := fields.get("catalogSessionProperty")) is not None:
        return _named(_object(setting, where), f"{where}.catalogSessionProperty", "catalogName"), ()
    return (), ()


def _column(given: Any, where: str) -> Column:
    fields = _object(given, where)
    catalog, schema, table, name = _named(fields, where, *_COLUMN_FIELDS[:-1])
    kind = _text(fields.get(_COLUMN_FIELDS[-1]), f"{where}.{_COLUMN_FIELDS[-1]}", limit=None)
    return (catalog, schema, table, name, kind)


def _named(given: dict[str, Any], where: str, *fields: str) -> tuple[str, ...]:
    values = [given.get(field) for field in fields]
    for field, value in zip(fields, values, strict=True):
        _text(value, f"{where}.{field}")
    return tuple(values)  # type: ignore[arg-type]


def _object(given: Any, where: str) -> dict[str, Any]:
    return given if isinstance(given, dict) else _refuse(where, "a JSON object")


def _list(given: Any, where: str) -> list[Any]:
    if given is None:
        return []
    if not isinstance(given, list):
        _refuse(where, "a list")
    return given if len(given) <= MAX_ITEMS else _refuse_many(where)


def _texts(given: Any, where: str) -> Iterator[str]:
    return (_text(one, where) for one in _list(given, where))


def _text(given: Any, where: str, limit: int | None = MAX_NAME) -> str:
    if isinstance(given, str) and given and NUL not in given and (limit is None or len(given) <= limit):
        return given
    return _refuse(where, f"a text that is not empty, has no NUL and at most {MAX_NAME} characters")


def _refuse(where: str, wanted: str) -> NoReturn:
    described = f"{where} must be {wanted}, as Trino's OPA plug-in sends it; check which engine calls this address"
    raise Refused(Problem("INVALID_VALUE", described, where))


def _refuse_many(where: str) -> NoReturn:
    described = f"{where} must have {MAX_ITEMS} names at most; select fewer columns, or list fewer objects at a time"
    raise Refused(Problem("TOO_LARGE", described, where))
