"""`/policies`: who may do what to which assets."""

from lily.api.http.openapi import policy_shapes as shapes
from lily.api.policy.administration import POLICIES
from lily.api.routes.access.collection import router_of

router = router_of(
    POLICIES,
    shapes.POLICY,
    create=(
        "Creates a policy, which takes effect within a second in every process of the API.\n\n"
        "`deny` comes first. Then, on the data plane, nothing is allowed that no policy allows, and `mask` "
        "and `row-filter` narrow what is allowed. Without an `id` the policy gets one. It may name roles, "
        "users and assets that do not exist yet."
    ),
    replace="Replaces a policy: what the body leaves out gets its default.",
    delete="Deletes a policy. What it decided so far can still be checked with `as_of`.",
)
