"""`databricks`: column masks, row filters and grants of Unity Catalog, as a script."""

from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field

from lily.connect.enforcers.warehouses.masks import Functions
from lily.connect.enforcers.warehouses.quoting import Quoting
from lily.connect.enforcers.warehouses.session_policies import Policy, SessionPolicies
from lily.connect.enforcers.warehouses.tables import Subject

QUOTING = Quoting("`", "\\'")


class DatabricksConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    function_schema: str = Field("lily", min_length=1, max_length=255, description="of each catalog, for the functions")
    grants: bool = Field(True, description="whether to grant and revoke SELECT; every user and group must exist")


class Databricks(SessionPolicies):
    Config = DatabricksConfig
    _parts = "catalog.schema.table"
    _dialect = "databricks"
    _functions = Functions(QUOTING.text, "UNHEX(SHA2({}, 256))", "CAST(CURRENT_TIMESTAMP() AS STRING)")

    def __init__(self, config: DatabricksConfig) -> None:
        super().__init__(config.function_schema, grants=config.grants)

    def _grantee(self, subject: Subject) -> str:
        return self._quoted(subject.name)

    def _with_rows(self, table: str, policy: Policy, columns: str) -> Iterator[str]:
        yield f"CREATE OR REPLACE FUNCTION {policy.name}({policy.arguments}) RETURNS BOOLEAN RETURN {policy.body}"
        yield f"ALTER {table} SET ROW FILTER {policy.name} ON ({columns})"

    def _without_rows(self, noun: str, table: str) -> Iterator[str]:
        yield f"ALTER {noun} {table} DROP ROW FILTER"

    def _with_mask(self, table: str, column: str, policy: Policy, kind: str) -> Iterator[str]:
        yield f"CREATE OR REPLACE FUNCTION {policy.name}({policy.arguments}) RETURNS {kind} RETURN {policy.body}"
        yield f"ALTER {table} ALTER COLUMN {column} SET MASK {policy.name}"

    def _without_mask(self, noun: str, table: str, column: str) -> Iterator[str]:
        yield f"ALTER {noun} {table} ALTER COLUMN {column} DROP MASK"

    def _quoted(self, *names: str) -> str:
        return QUOTING.name(*names)

    def _is(self, subject: Subject) -> str:
        if subject.kind == "user":
            return f"LOWER(CURRENT_USER()) = {QUOTING.text(subject.name.lower())}"
        return f"IS_ACCOUNT_GROUP_MEMBER({QUOTING.text(subject.name)})"
