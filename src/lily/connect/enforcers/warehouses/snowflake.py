"""`snowflake`: masking policies, row access policies and grants, as a script."""

import re
from collections.abc import Iterator
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from lily.connect.enforcers.warehouses.masks import Functions
from lily.connect.enforcers.warehouses.quoting import Quoting
from lily.connect.enforcers.warehouses.session_policies import Policy, SessionPolicies
from lily.connect.enforcers.warehouses.tables import Subject, WarehouseTable
from lily.connect.enforcers.warehouses.types import ColumnType

_PLAIN = re.compile(r"[a-z_][a-z0-9_$]*")  # which Snowflake stores in upper case unless it was quoted

QUOTING = Quoting('"', "''")


class SnowflakeConfig(BaseModel):
    model_config = ConfigDict(extra="forbid")

    policy_schema: str = Field("LILY", min_length=1, max_length=255, description="of each database, for the policies")
    case: Literal["upper", "exact"] = Field("upper", description="how `orders` is stored: as ORDERS, or as it is")
    grants: bool = Field(True, description="whether to grant and revoke SELECT; every role must exist")


class Snowflake(SessionPolicies):
    Config = SnowflakeConfig
    _parts = "database.schema.table"
    _dialect = "snowflake"
    _also_restricted = ("VIEW",)
    _functions = Functions(
        QUOTING.text, "SHA2_BINARY({}, 256)", "CONCAT(CURRENT_SESSION(), TO_VARCHAR(CURRENT_TIMESTAMP()))"
    )

    def __init__(self, config: SnowflakeConfig) -> None:
        super().__init__(config.policy_schema, grants=config.grants)
        self._case = config.case

    def _grantee(self, subject: Subject) -> str:
        """A user reads with a role, and is filtered and masked by its own name as well."""
        return "" if subject.kind == "user" else f"ROLE {self._quoted(subject.name)}"

    def _with_rows(self, table: str, policy: Policy, columns: str) -> Iterator[str]:
        signature = f"({policy.arguments}) RETURNS BOOLEAN"
        yield f"CREATE ROW ACCESS POLICY IF NOT EXISTS {policy.name} AS {signature} -> {policy.body}"
        # A table has one at most, and its name is known to nobody but the table.
        yield f"ALTER {table} DROP ALL ROW ACCESS POLICIES"
        yield f"ALTER {table} ADD ROW ACCESS POLICY {policy.name} ON ({columns})"

    def _without_rows(self, noun: str, table: str) -> Iterator[str]:
        yield f"ALTER {noun} IF EXISTS {table} DROP ALL ROW ACCESS POLICIES"

    def _with_mask(self, table: str, column: str, policy: Policy, kind: str) -> Iterator[str]:
        signature = f"({policy.arguments}) RETURNS {kind}"
        yield f"CREATE MASKING POLICY IF NOT EXISTS {policy.name} AS {signature} -> {policy.body}"
        yield f"ALTER {table} MODIFY COLUMN {column} SET MASKING POLICY {policy.name} FORCE"

    def _without_mask(self, noun: str, table: str, column: str) -> Iterator[str]:
        yield f"ALTER {noun} IF EXISTS {table} MODIFY COLUMN {column} UNSET MASKING POLICY"

    def _unused(self, table: WarehouseTable) -> dict[str, ColumnType] | None:
        """A row access policy needs a column, if only to ignore it."""
        return next(({name: kind} for name, kind in table.types.items() if kind), None)

    def _is(self, subject: Subject) -> str:
        """Users in any case, like everywhere in Lily: what restricts `ann@example.org` must hold for the account
        `ANN@EXAMPLE.ORG`, as provisioning creates it. No statement would fail for a user who is spelt otherwise."""
        if subject.kind == "user":
            return f"UPPER(CURRENT_USER()) = UPPER({QUOTING.text(subject.name)})"
        return f"IS_ROLE_IN_SESSION({QUOTING.text(self._stored(subject.name))})"

    def _quoted(self, *names: str) -> str:
        return QUOTING.name(*map(self._stored, names))

    def _stored(self, name: str) -> str:
        return name.upper() if self._case == "upper" and _PLAIN.fullmatch(name) else name
