"""Settings of OpenID Connect issuers: whose access tokens the API accepts, for which tenant and with which scopes."""

from ipaddress import ip_address
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from lily.model.access import Scope

# Asymmetric ones only: with HS256, everyone who knows the public key could sign.
Algorithm = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"
]  # fmt: skip


def is_secure(url: str) -> bool:
    """Whether the URL is https, or http to this machine."""
    try:
        scheme, host = urlsplit(url).scheme, urlsplit(url).hostname
    except ValueError:  # such as http://[::1
        return False
    return bool(host) and (scheme == "https" or (scheme == "http" and _is_loopback(host or "")))


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _issuer_url(url: str) -> str:
    if not is_secure(url):
        raise ValueError(
            "an issuer is an https:// URL; over http:// its keys could be replaced on the way, so http:// is accepted "
            "for this machine only (127.0.0.1, ::1, localhost)"
        )
    if urlsplit(url).query or urlsplit(url).fragment:
        raise ValueError("an issuer's URL has no query and no fragment; copy `issuer` from its discovery document")
    return url


class Issuer(BaseModel):
    """An identity provider whose access tokens are accepted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    issuer: Annotated[str, AfterValidator(_issuer_url)] = Field(description="its URL, exactly as in the claim `iss`")
    audience: str = Field("", validate_default=True, description="what `aud` has to contain")
    tenant: str = Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$", description="the tenant of its users; never a claim")
    user_claim: str = Field("preferred_username", min_length=1, description="the claim with the user's name")
    groups_claim: str = Field("groups", min_length=1, description="the user's groups; dots lead into nested objects")
    scopes: tuple[Scope, ...] = Field((), description="scopes of every user of this issuer")
    group_scopes: dict[str, tuple[Scope, ...]] = Field({}, description="further scopes of the members of a group")
    trust_scope_claim: bool = Field(
        default=False, description="whether the scopes in `scope` that are Lily's count as well"
    )
    client_ids: tuple[str, ...] = Field((), description="the clients (`azp`, `client_id`) to accept; empty for all")
    algorithms: tuple[Algorithm, ...] = Field(("RS256", "PS256", "ES256", "EdDSA"), min_length=1)
    clock_skew_seconds: int = Field(60, ge=0, le=600, description="how far its clock and ours may differ")
    key_refresh_seconds: float = Field(240, ge=1, le=3600, description="how often its keys are fetched again")
    key_max_age_seconds: float = Field(
        3600, ge=1, le=86_400, description="how long keys are used while the provider cannot be reached"
    )

    @field_validator("audience")
    @classmethod
    def _required(cls, audience: str) -> str:
        if not audience.strip():
            raise ValueError(
                "set the audience that access tokens for Lily have in `aud`; without it, a token that a user gave to "
                "any other application of this issuer would be accepted"
            )
        return audience

    @model_validator(mode="after")
    def _refreshed_in_time(self) -> "Issuer":
        if self.key_max_age_seconds < self.key_refresh_seconds:
            raise ValueError("key_max_age_seconds must not be less than key_refresh_seconds")
        return self


class Oidc(BaseModel):
    """Sign-in with OpenID Connect, beside API tokens."""

    model_config = ConfigDict(extra="forbid")

    issuers: tuple[Issuer, ...] = Field((), description="the issuers to accept, as JSON")

    @field_validator("issuers")
    @classmethod
    def _each_once(cls, issuers: tuple[Issuer, ...]) -> tuple[Issuer, ...]:
        seen: set[str] = set()
        for entry in issuers:
            url = entry.issuer.rstrip("/")
            if url in seen:
                raise ValueError(
                    f"the issuer {url} is listed twice, so its tenant would be ambiguous; keep one entry, and use one "
                    "realm (or the like) of the provider for each tenant"
                )
            seen.add(url)
        return issuers
