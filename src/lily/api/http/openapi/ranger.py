"""The documents that Ranger plug-ins download, for the OpenAPI document. Their fields are Ranger's."""

from typing import Any

from pydantic import BaseModel, Field


class ServicePolicies(BaseModel, extra="allow"):
    service_name: str = Field(alias="serviceName")
    policy_version: int = Field(alias="policyVersion")
    service_def: dict[str, Any] = Field(alias="serviceDef")
    policies: list[dict[str, Any]]
    tag_policies: dict[str, Any] = Field(alias="tagPolicies")


class ServiceTags(BaseModel, extra="allow"):
    service_name: str = Field(alias="serviceName")
    tag_version: int = Field(alias="tagVersion")
    tag_definitions: dict[str, dict[str, Any]] = Field(alias="tagDefinitions")
    tags: dict[str, dict[str, Any]]
    service_resources: list[dict[str, Any]] = Field(alias="serviceResources")
    resource_to_tag_ids: dict[str, list[int]] = Field(alias="resourceToTagIds")


class ServiceRoles(BaseModel, extra="allow"):
    service_name: str = Field(alias="serviceName")
    role_version: int = Field(alias="roleVersion")
    ranger_roles: list[dict[str, Any]] = Field(alias="rangerRoles")
