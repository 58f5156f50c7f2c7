"""`/users`: the groups and roles of users."""

from lily.api.http.openapi import policy_shapes as shapes
from lily.api.policy.administration import USERS
from lily.api.routes.access.collection import router_of

router = router_of(
    USERS,
    shapes.USER,
    create=(
        "Creates a user with groups and roles. A principal with that user name has them, beside the groups "
        "that its identity provider states. A user needs no entry here to be named by a policy."
    ),
    replace="Replaces a user: what the body leaves out becomes empty.",
    delete="Deletes a user, with its groups and roles. Policies that name it stay; the response lists them.",
)
