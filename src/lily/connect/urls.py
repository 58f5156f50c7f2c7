"""URLs in the configuration of a plug-in: secrets, because many hold a token in their path."""

from typing import Annotated

from pydantic import AfterValidator, SecretStr

from lily.outbound import endpoint


def _is_endpoint(url: SecretStr) -> SecretStr:
    endpoint(url.get_secret_value())
    return url


def _is_site(url: str) -> str:
    if endpoint(url).target != "/":
        raise ValueError("the address of a site has no path")
    return url


Url = Annotated[SecretStr, AfterValidator(_is_endpoint)]
SiteUrl = Annotated[str, AfterValidator(_is_site)]  # not a secret
