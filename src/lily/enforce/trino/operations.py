"""Every operation that Trino 476 asks about, and what it needs. An operation that is not listed is denied."""

from typing import Literal, NamedTuple

from lily.enforce.questions import Rule
from lily.policy import Action

# free: touches no data and shows none.
# own: a query of the same user, else as `operator`.
# operator: the right to operate the engine, decided by the asset `system`.
# catalog, schema, table, function: an object of that kind. columns: a table and its columns.
# moved: a table whose data comes to stand under another name, with the new name if the operation has one.
Subject = Literal["free", "own", "operator", "catalog", "schema", "table", "columns", "function", "moved"]


class Operation(NamedTuple):
    subject: Subject
    actions: tuple[Action, ...] = ("READ",)
    rule: Rule = "known"


def _listed(names: str, operation: Operation) -> dict[str, Operation]:
    return dict.fromkeys(names.split(), operation)


OPERATIONS: dict[str, Operation] = {
    **_listed("ExecuteQuery SetSystemSessionProperty", Operation("free")),
    **_listed("ViewQueryOwnedBy FilterViewQueryOwnedBy", Operation("own")),
    **_listed("KillQueryOwnedBy ImpersonateUser", Operation("own", ("WRITE",))),
    "ReadSystemInformation": Operation("operator"),
    # Who owns a view decides whose rights its readers have. A renamed schema takes every table out of its policies.
    **_listed(
        "WriteSystemInformation CreateCatalog DropCatalog SetSchemaAuthorization SetTableAuthorization "
        "SetViewAuthorization RenameSchema",
        Operation("operator", ("WRITE",)),
    ),
    **_listed(
        "AccessCatalog FilterCatalogs ShowSchemas SetCatalogSessionProperty", Operation("catalog", rule="container")
    ),
    **_listed(
        "ShowTables ShowCreateSchema ShowFunctions FilterSchemas FilterFunctions", Operation("schema", rule="container")
    ),
    "CreateSchema": Operation("schema", ("WRITE",), "new"),
    "DropSchema": Operation("schema", ("DELETE",)),
    **_listed("ShowCreateTable ShowColumns FilterTables", Operation("table")),
    **_listed("CreateTable CreateView CreateMaterializedView", Operation("table", ("WRITE",), "new")),
    **_listed(
        "InsertIntoTable AddColumn AlterColumn SetTableProperties SetTableComment SetViewComment SetColumnComment "
        "RefreshMaterializedView SetMaterializedViewProperties SetMaterializedViewComment ExecuteTableProcedure",
        Operation("table", ("WRITE",)),
    ),
    **_listed(
        "DropTable DropView DropMaterializedView TruncateTable DeleteFromTable DropColumn",
        Operation("table", ("DELETE",)),
    ),
    **_listed("RenameTable RenameView RenameMaterializedView", Operation("moved", ("WRITE", "DELETE"))),
    "RenameColumn": Operation("moved", ("WRITE",)),
    **_listed("SelectFromColumns CreateViewWithSelectFromColumns FilterColumns", Operation("columns")),
    "UpdateTableColumns": Operation("columns", ("WRITE",)),
    # A function of a connector may send any query to the database behind it, past all masks.
    **_listed("ExecuteFunction CreateViewWithExecuteFunction ShowCreateFunction", Operation("function", rule="strict")),
    "ExecuteProcedure": Operation("function", ("WRITE",), "strict"),
    "CreateFunction": Operation("function", ("WRITE",), "new"),
    "DropFunction": Operation("function", ("DELETE",), "strict"),
}
ROW_FILTERS, COLUMN_MASK = "GetRowFilters", "GetColumnMask"
FILTER_COLUMNS = "FilterColumns"
