"""Requests as Trino's OPA plug-in sends them."""

from collections.abc import Mapping, Sequence
from typing import Any

Json = dict[str, Any]


def request(operation: str, user: str = "ann", groups: Sequence[str] = (), **action: Any) -> Json:
    context = {"identity": {"user": user, "groups": list(groups)}, "softwareStack": {"trinoVersion": "476"}}
    return {"input": {"context": context, "action": {"operation": operation, **action}}}


def table(name: str, columns: Sequence[str] | None = None) -> Json:
    catalog, schema, table_name = name.split(".", 2)
    found: Json = {"catalogName": catalog, "schemaName": schema, "tableName": table_name}
    return {"table": found if columns is None else found | {"columns": list(columns)}}


def column(name: str, column_name: str, column_type: str = "varchar") -> Json:
    return {"column": table(name)["table"] | {"columnName": column_name, "columnType": column_type}}


def schema(name: str) -> Json:
    catalog, schema_name = name.split(".")
    return {"schema": {"catalogName": catalog, "schemaName": schema_name}}


def function(name: str) -> Json:
    catalog, schema_name, function_name = name.split(".")
    return {
        "function": {
            "catalogSchema": {"catalogName": catalog, "schemaName": schema_name},
            "functionName": function_name,
        }
    }


def catalog(name: str) -> Json:
    return {"catalog": {"name": name}}


def owner(name: str) -> Json:
    return {"user": {"user": name, "groups": []}}


def select(name: str, columns: Sequence[str], **identity: Any) -> Json:
    return request("SelectFromColumns", resource=table(name, columns), **identity)


def masks(name: str, columns: Mapping[str, str], **identity: Any) -> Json:
    listed = [column(name, one, kind) for one, kind in columns.items()]
    return request("GetColumnMask", filterResources=listed, **identity)
