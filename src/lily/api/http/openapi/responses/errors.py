"""What every response may be made of: JSON, and problems."""

from collections.abc import Mapping
from typing import Any

import orjson
from pydantic import BaseModel
from starlette.responses import Response


class Json(Response):
    media_type = "application/json"

    def __init__(self, content: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        body = content if isinstance(content, bytes) else orjson.dumps(content)
        super().__init__(body, status, headers)


class Problem(BaseModel):
    code: str
    description: str
    entity: str


class Errors(BaseModel):
    errors: list[Problem]
