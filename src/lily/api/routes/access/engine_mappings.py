"""`/engine-mappings`: what an engine's catalogue names mean in Lily."""

from lily.api.http.openapi import policy_examples as examples
from lily.api.http.openapi.parameters import ENGINE_MAPPING_PATH
from lily.api.http.openapi.policy_bodies import ENGINE_MAPPING
from lily.api.http.openapi.policy_responses import Deleted, EngineMappingResponse, EngineMappings
from lily.api.policy.administration import ENGINE_MAPPINGS
from lily.api.routes.access.collection import Shapes, router_of

router = router_of(
    ENGINE_MAPPINGS,
    Shapes(
        ENGINE_MAPPING_PATH, ENGINE_MAPPING, examples.ENGINE_MAPPING, EngineMappingResponse, EngineMappings, Deleted
    ),
    create=(
        "Creates a mapping: what an engine calls `engine_name` in a data source, and everything below it, is "
        "`asset_name` in Lily. Without a mapping an engine's name is the qualified name."
    ),
    replace="Replaces an engine mapping.",
    delete="Deletes an engine mapping.",
)
