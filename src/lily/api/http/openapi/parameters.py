"""Path parameters that several routes share: how they are matched, and an example each, which `/docs` fills in."""

from typing import Annotated

from fastapi import Path
from fastapi.openapi.models import Example
from starlette.convertors import register_url_convertor

from lily.api.http.openapi.examples import DASHBOARD, ORDERS, RULE, TAG
from lily.api.http.server.paths import AssetConvertor, TextConvertor

register_url_convertor("text", TextConvertor())  # `{id:text}` in the path of a route
register_url_convertor("asset", AssetConvertor())

AssetId = Annotated[
    str,
    Path(
        description="The asset's id or its qualified name. In a path, a slash in a name is sent as `%2F`.",
        openapi_examples={"a table": Example(value=ORDERS), "a dashboard": Example(value=DASHBOARD)},
    ),
]
TagName = Annotated[str, Path(description="The tag, in any case.", openapi_examples={"a tag": Example(value=TAG)})]
DefinedTag = Annotated[
    str, Path(description="The name of a defined tag, in any case.", openapi_examples={"PII": Example(value="PII")})
]
RuleName = Annotated[str, Path(description="The rule's name.", openapi_examples={"owners": Example(value=RULE)})]
