"""The name of a target's topic."""

from lily.outbound import topic_names

PREFIX = "lily-enforcement"


def topic_name(tenant: str, target: str) -> str:
    """`lily-enforcement.TENANT.TARGET`."""
    return topic_names.topic_name(PREFIX, tenant, target)
