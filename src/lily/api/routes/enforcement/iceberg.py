"""`GET /enforce/iceberg/{namespace}/{table}`: what a reader of an Iceberg table must do for a user."""

from collections import Counter
from typing import Annotated

from fastapi import APIRouter, Depends

from lily.api.auth.engine_keys import Engine, has_engine_key
from lily.api.calls import Enforces
from lily.api.enforcement.iceberg import Request, decide
from lily.api.http.openapi.enforcement import RESTRICTED, InGroups, NamespacePath, OfFields, OfUser, TablePath
from lily.api.http.openapi.responses import Json
from lily.enforce.iceberg import Field, parse_field, split_namespace
from lily.model.errors import Problem, Refused

PATH = "/enforce/iceberg"
NUL = "\x00"

router = APIRouter(tags=["enforcement"])


def _asked(
    namespace: NamespacePath, table: TablePath, user: OfUser, group: InGroups = None, field: OfFields = None
) -> Request:
    levels = split_namespace(namespace)
    if not levels:
        described = "name the levels of the namespace, separated by `.` or `%1F`"
        raise Refused(Problem("INVALID_VALUE", described, "namespace"))
    for text in (*levels, table, user, *(group or ())):
        if NUL in text:
            raise Refused(Problem("INVALID_VALUE", "a name must not contain NUL", text))
    return Request((*levels, table), user, group or (), _fields(field or []))


Asked = Annotated[Request, Depends(_asked)]


@router.get(f"{PATH}/k/{{key}}/{{namespace:segment}}/{{table:segment}}", responses=RESTRICTED)
async def restrictions_by_key(call: Engine, asked: Asked) -> Json:
    """Returns the read restrictions of a table for a user, for callers that send their key in the path."""
    return Json({"read-restrictions": await decide(call, asked)})


@router.get(f"{PATH}/{{namespace:segment}}/{{table:segment}}", responses=RESTRICTED)
async def restrictions(call: Enforces, asked: Asked) -> Json:
    """Returns the read restrictions of a table for a user, as `loadTable` of an Iceberg REST catalogue returns them.

    403: the user may not read the table. 404: it is not in Lily's catalogue, and `unknown_objects` is closed. 409: a
    decision cannot be stated as a restriction, such as a row filter beyond Iceberg's expressions or a masked column
    whose field id is not known. A caller must not serve the table unless the response is 200."""
    if has_engine_key(call.request):
        described = "the namespace k cannot be told from a key in the path; use the address that has a key"
        raise Refused(Problem("INVALID_VALUE", described, "namespace"))
    return Json({"read-restrictions": await decide(call, asked)})


def _fields(given: list[str]) -> list[Field]:
    fields = [parse_field(text) for text in given]
    repeated = [number for number, count in Counter(field.id for field in fields).items() if count > 1]
    if repeated:
        raise Refused(Problem("INVALID_VALUE", f"two fields have the id {repeated[0]}; each has its own", "field"))
    return fields
