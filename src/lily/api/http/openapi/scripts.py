"""Bodies and responses of scripts, for the OpenAPI document."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from lily.api.http.openapi.examples import Examples
from lily.api.http.openapi.responses import Errors


class RunScript(BaseModel, extra="forbid"):
    """`digest` is in a comment at the beginning of the script."""

    digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class ConfirmedScript(BaseModel):
    target: str
    digest: str
    status: Literal["confirmed"]


CONFIRM_EXAMPLES: Examples = {"a script that was run": {"digest": "0" * 64}}
NO_SCRIPT: dict[int | str, dict[str, Any]] = {
    409: {"model": Errors, "description": "The target is not one for scripts, or the script is another one by now"}
}
