"""`/roles`: roles that inherit from each other and that groups hold."""

from lily.api.http.openapi import policy_shapes as shapes
from lily.api.policy.administration import ROLES
from lily.api.routes.access.collection import router_of

router = router_of(
    ROLES,
    shapes.ROLE,
    create=(
        "Creates a role. Its holders also hold the roles that it `inherits`; members of its `groups` hold the "
        "role. Roles that inherit in a circle are refused, with the circle."
    ),
    replace="Replaces a role: what the body leaves out becomes empty.",
    delete="Deletes a role. Policies, roles and users that name it stay; the response lists them.",
)
