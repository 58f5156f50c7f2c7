"""The supported SQL dialects, their aliases, and how their engines store the names that a script writes."""

from typing import Literal

from sqlglot import Dialects
from sqlglot.dialects.dialect import Dialect

from lily.model.errors import Problem, Refused

CaseRule = Literal["lower", "upper", "kept"]

_ALIASES = {
    "ansi": "",
    "aurora": "postgres",
    "azuresql": "tsql",
    "clickhouse-cloud": "clickhouse",
    "cloudsql": "postgres",
    "cockroachdb": "postgres",
    "db2": "",
    "delta": "databricks",
    "emr": "spark",
    "flink": "",
    "googlesql": "bigquery",
    "greenplum": "postgres",
    "hiveql": "hive",
    "impala": "hive",
    "mariadb": "mysql",
    "microsoft": "tsql",
    "motherduck": "duckdb",
    "mssql": "tsql",
    "netezza": "postgres",
    "plpgsql": "postgres",
    "plsql": "oracle",
    "postgresql": "postgres",
    "prestosql": "presto",
    "pyspark": "spark",
    "snowpark": "snowflake",
    "sparksql": "spark",
    "sql": "",
    "sqlserver": "tsql",
    "standard": "",
    "starburst": "trino",
    "sybase": "tsql",
    "synapse": "fabric",
    "timescaledb": "postgres",
    "transact-sql": "tsql",
    "vertica": "postgres",
    "yugabytedb": "postgres",
}
_NOT_SQL = {"dax", "prql"}
KNOWN = tuple(sorted({*(dialect.value for dialect in Dialects if dialect.value), *_ALIASES} - _NOT_SQL))

_UPPER = frozenset({"db2", "exasol", "oracle", "plsql", "snowflake", "snowpark"})
_KEPT = frozenset(
    {"azuresql", "bigquery", "clickhouse", "clickhouse-cloud", "doris", "fabric", "googlesql", "mariadb", "microsoft"}
    | {"mssql", "mysql", "sqlite", "sqlserver", "starrocks", "sybase", "synapse", "teradata", "tsql"}
    | {"transact-sql", "vertica", "duckdb", "motherduck"}
)
# In these a column of the SELECT list may name an earlier one.
_LATERAL_ALIASES = frozenset({"clickhouse", "databricks", "duckdb", "redshift", "snowflake", "spark", "teradata"})
_TABLE_INTO = frozenset({"", "materialize", "postgres", "redshift", "risingwave", "duckdb", "sqlite"})
# In these a path without a scheme is one of the server's or the caller's machine; elsewhere of a file system that its
# configuration names.
_LOCAL_PATHS = frozenset({"clickhouse", "duckdb", "mysql", "postgres", "sqlite", "tsql"})
_SEMICOLONS_OPTIONAL = frozenset({"fabric", "tsql"})


def dialect_of(name: str) -> str:
    """sqlglot's name of a dialect. Raises Refused, with the list of supported ones, if it is unknown."""
    normalised = _normalised(name)
    if normalised not in KNOWN:
        raise Refused(
            Problem("UNKNOWN_DIALECT", f"unknown dialect {name[:64]!r}; use one of: {', '.join(KNOWN)}", "dialect")
        )
    return _ALIASES.get(normalised, normalised)


def case_rule(name: str) -> CaseRule:
    """How the engine stores a name that is not quoted."""
    normalised = _normalised(name)
    return "upper" if normalised in _UPPER else "kept" if normalised in _KEPT else "lower"


def spellings(name: str, key: str, written: str) -> tuple[str, ...]:
    """The spellings that a table may have in the catalogue, the most likely one first."""
    by_rule = {"lower": (key, written, key.upper()), "upper": (key.upper(), written, key)}
    return tuple(dict.fromkeys(by_rule.get(case_rule(name), (written, key, key.upper()))))


def allows_lateral_aliases(dialect: str) -> bool:
    return dialect in _LATERAL_ALIASES


def select_into_makes_a_table(dialect: str, *, in_routine: bool) -> bool:
    """Elsewhere it assigns variables."""
    return dialect in _SEMICOLONS_OPTIONAL or (dialect in _TABLE_INTO and not in_routine)


def paths_are_local(dialect: str) -> bool:
    return dialect in _LOCAL_PATHS


def semicolons_are_optional(dialect: str) -> bool:
    return dialect in _SEMICOLONS_OPTIONAL


def engine_of(dialect: str) -> Dialect:
    return Dialect.get_or_raise(dialect or None)


def _normalised(name: str) -> str:
    return name.strip().lower().replace("_", "-") if name.strip().lower() not in KNOWN else name.strip().lower()
