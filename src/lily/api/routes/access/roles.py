"""`/roles`: roles that inherit from each other and that groups hold."""

from lily.api.http.openapi import policy_examples as examples
from lily.api.http.openapi.parameters import ROLE_PATH
from lily.api.http.openapi.policy_bodies import ROLE, ROLE_REPLACED
from lily.api.http.openapi.policy_responses import CYCLE, DeletedSubject, RoleResponse, Roles
from lily.api.policy.administration import ROLES
from lily.api.routes.access.collection import Shapes, router_of

router = router_of(
    ROLES,
    Shapes(ROLE_PATH, ROLE, examples.ROLE, RoleResponse, Roles, DeletedSubject, ROLE_REPLACED, CYCLE),
    create=(
        "Creates a role. Its holders also hold the roles that it `inherits`; members of its `groups` hold the "
        "role. Roles that inherit in a circle are refused, with the circle."
    ),
    replace="Replaces a role: what the body leaves out becomes empty.",
    delete="Deletes a role. Policies, roles and users that name it stay; the response lists them.",
)
