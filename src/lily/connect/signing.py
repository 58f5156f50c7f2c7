"""The secrets that sign messages, as every plug-in that sends some is configured with them."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from lily.outbound import Signer, checked_secret


def _is_secret(secret: SecretStr) -> SecretStr:
    checked_secret(secret.get_secret_value())
    return secret


Secret = Annotated[SecretStr, AfterValidator(_is_secret)]
Secrets = Annotated[
    list[Secret],
    Field(min_length=1, max_length=3, description="whsec_…: each signs every message, so that one can be replaced"),
]


class SigningConfig(BaseModel):
    """What the configuration of every such plug-in begins with."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)

    secrets: Secrets


def signer(secrets: Iterable[SecretStr]) -> Signer:
    return Signer([secret.get_secret_value() for secret in secrets])
