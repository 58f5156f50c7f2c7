"""Every call of the API that the clients offer, described once, in one module per subject.

A function here returns the `Call` to send. Both clients take its parameters and its docstring for their method.
"""

from lily.client.calls import (
    assets,
    enforcement,
    incidents,
    jobs,
    lineage,
    notifications,
    operations,
    policies,
    protections,
    quality,
    refreshes,
    rules,
    tags,
    webhook_mappings,
)

__all__ = [
    "assets",
    "enforcement",
    "incidents",
    "jobs",
    "lineage",
    "notifications",
    "operations",
    "policies",
    "protections",
    "quality",
    "refreshes",
    "rules",
    "tags",
    "webhook_mappings",
]
