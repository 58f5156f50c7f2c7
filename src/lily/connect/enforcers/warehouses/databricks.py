"""`databricks`: column masks, row filters and grants of Unity Catalog, as a script."""

from collections.abc import Iterable, Iterator

from pydantic import BaseModel, ConfigDict, Field

from lily.connect.enforcers.warehouses.conditions import any_of
from lily.connect.enforcers.warehouses.masks import Functions
from lily.connect.enforcers.warehouses.session_policies import Policy, SessionPolicies
from lily.connect.enforcers.warehouses.tables import Subject


class DatabricksConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    function_schema: str = Field("lily", min_length=1, max_length=255, description="of each catalog, for the functions")
    grants: bool = Field(True, description="whether to grant and revoke SELECT; every user and group must exist")


def literal(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def quoted(*names: str) -> str:
    return ".".join("`" + name.replace("`", "``") + "`" for name in names)


class Databricks(SessionPolicies):
    Config = DatabricksConfig
    _parts = "catalog.schema.table"
    _dialect = "databricks"
    _functions = Functions(
        literal,
        hashed="SHA2({}, 256)",
        hashed_binary="UNHEX(SHA2({}, 256))",
        salt="CAST(CURRENT_TIMESTAMP() AS STRING)",
    )

    def __init__(self, config: DatabricksConfig) -> None:
        super().__init__(config.function_schema, grants=config.grants)

    def _grantee(self, subject: Subject) -> str:
        return self._quoted(subject.name)

    def _with_rows(self, table: str, policy: Policy, columns: str) -> Iterator[str]:
        yield f"CREATE OR REPLACE FUNCTION {policy.name}({policy.arguments}) RETURNS BOOLEAN RETURN {policy.body}"
        yield f"ALTER TABLE {table} SET ROW FILTER {policy.name} ON ({columns})"

    def _without_rows(self, table: str) -> Iterator[str]:
        yield f"ALTER TABLE {table} DROP ROW FILTER"

    def _with_mask(self, table: str, column: str, policy: Policy, kind: str) -> Iterator[str]:
        yield f"CREATE OR REPLACE FUNCTION {policy.name}({policy.arguments}) RETURNS {kind} RETURN {policy.body}"
        yield f"ALTER TABLE {table} ALTER COLUMN {column} SET MASK {policy.name}"

    def _without_mask(self, table: str, column: str) -> Iterator[str]:
        yield f"ALTER TABLE {table} ALTER COLUMN {column} DROP MASK"

    def _quoted(self, *names: str) -> str:
        return quoted(*names)

    def _test(self, subjects: Iterable[Subject]) -> str:
        return any_of(
            f"LOWER(CURRENT_USER()) = {literal(one.name.lower())}"
            if one.kind == "user"
            else f"IS_ACCOUNT_GROUP_MEMBER({literal(one.name)})"
            for one in subjects
        )
