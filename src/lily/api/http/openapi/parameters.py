"""Path parameters that several routes share: how they are matched, and an example each, which `/docs` fills in."""

from typing import Annotated

from fastapi import Path
from fastapi.openapi.models import Example
from starlette.convertors import register_url_convertor

from lily.api.http.openapi.examples import DASHBOARD, ORDERS, RULE, TAG
from lily.api.http.openapi.policy_examples import MAPPING_ID, POLICY_ID, ROLE_NAME, SCRAPER_POLICY_ID, USER_NAME
from lily.api.http.server.paths import AssetConvertor, SegmentConvertor, TextConvertor, UserConvertor

register_url_convertor("text", TextConvertor())  # `{id:text}` in the path of a route
register_url_convertor("segment", SegmentConvertor())
register_url_convertor("asset", AssetConvertor())
register_url_convertor("user", UserConvertor())

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
POLICY_PATH = Path(
    alias="id", description="The policy's id, in any case.", openapi_examples={"a policy": Example(value=POLICY_ID)}
)
ROLE_PATH = Path(
    alias="name", description="The role's name, in any case.", openapi_examples={"a role": Example(value=ROLE_NAME)}
)
USER_PATH = Path(
    alias="name", description="The user's name, in any case.", openapi_examples={"a user": Example(value=USER_NAME)}
)
SCRAPER_POLICY_PATH = Path(
    alias="id", description="The scraper policy's id.", openapi_examples={"an id": Example(value=SCRAPER_POLICY_ID)}
)
ENGINE_MAPPING_PATH = Path(
    alias="id", description="The mapping's id.", openapi_examples={"a mapping": Example(value=MAPPING_ID)}
)
