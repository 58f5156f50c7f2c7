"""`/engine-mappings`: what an engine's catalogue names mean in Lily."""

from lily.api.http.openapi import policy_shapes as shapes
from lily.api.policy.administration import ENGINE_MAPPINGS
from lily.api.routes.access.collection import router_of

router = router_of(
    ENGINE_MAPPINGS,
    shapes.ENGINE_MAPPING,
    create=(
        "Creates a mapping: what an engine calls `engine_name` in a data source, and everything below it, is "
        "`asset_name` in Lily. Without a mapping an engine's name is the qualified name."
    ),
    replace="Replaces an engine mapping.",
    delete="Deletes an engine mapping.",
)
