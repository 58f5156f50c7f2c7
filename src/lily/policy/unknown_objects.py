"""Objects that engines have and the catalogue does not."""

from lily.model import ids
from lily.policy.decisions import Decision
from lily.policy.requests import Facts

UNKNOWN = "the asset is not in the catalogue, and the tenant's setting unknown_objects is"


def unknown_facts(tenant: str, asset: str) -> Facts:
    """All that is known of an asset that is not in the catalogue: its id, and its name if it was given."""
    return Facts(ids.resolve(tenant, asset), "" if ids.looks_like_uuid(asset) else asset)


def decided_unknown(decision: Decision, unknown_objects: str) -> Decision:
    """Closed: denied. Open: allowed unless a policy that names the object, or every object, decides otherwise."""
    if decision.policy_id is not None and not decision.allowed:
        return decision
    if unknown_objects == "closed":
        return Decision("deny", None, f"{UNKNOWN} closed")
    return decision if decision.allowed else Decision("allow", None, f"{UNKNOWN} open")
