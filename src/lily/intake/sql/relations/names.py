"""Names of tables, in lower case: names of engine objects compare without case."""

import re

from sqlglot import exp

LOCATION = re.compile(r"^(?:@|/|\./|[a-z][a-z0-9+.-]*://)", re.IGNORECASE)
_PARTITION_DECORATOR = re.compile(r"[$@][0-9_]+$")  # BigQuery: a partition, or a moment, of the table
_FILE_FORMATS = frozenset({"parquet", "orc", "csv", "json", "avro", "text", "delta", "binaryfile", "iceberg"})


def identifier_name(part: exp.Expr) -> str:
    name = part.name.lower()
    return f"#{name.lstrip('#')}" if part.args.get("temporary") else name


def name_parts(table: exp.Table) -> list[str]:
    if isinstance(table.this, exp.DynamicIdentifier):  # Snowflake: `identifier('db.schema.t')`
        return table.this.name.lower().split(".")
    parts = [part.name.lower() for part in table.parts if part.name]
    if parts and isinstance(table.this, exp.Identifier) and table.this.args.get("temporary"):
        parts[-1] = "#" + parts[-1].lstrip("#")
    if parts and isinstance(table.this, exp.Parameter):
        parts[-1] = "@" + parts[-1].lstrip("@")
    return parts


def location_of(table: exp.Table) -> str | None:
    """The path of files or of a stage that is read like a table, as it is written."""
    name = table.name
    if isinstance(table.this, exp.Parameter):
        return None
    if LOCATION.match(name) and (not table.db or table.db.lower() in _FILE_FORMATS):
        return name
    return None


def table_key(table: exp.Table, database: str | None = None, schema: str | None = None) -> str:
    """The name with the default database and schema where it omits them."""
    location = location_of(table)
    if location is not None:
        return location
    parts = name_parts(table)
    if not parts or parts[-1][:1] in {"", "#", "@"}:
        return parts[-1] if parts else ""
    parts[-1] = _PARTITION_DECORATOR.sub("", parts[-1])
    if len(parts) == 1 and schema:
        parts.insert(0, schema.lower())
    if len(parts) == 2 and database:
        parts.insert(0, database.lower())
    return ".".join(parts)


def alias_of(source: exp.Expr) -> str:
    return str(source.alias).lower()


def alias_columns(source: exp.Expr) -> list[str]:
    alias = source.args.get("alias")
    if not isinstance(alias, exp.TableAlias):
        return []
    return [column.name.lower() for column in alias.args.get("columns") or () if column.name]
