"""`/scraper-policies`: what connectors may read and write."""

from lily.api.http.openapi import policy_shapes as shapes
from lily.api.policy.administration import SCRAPER_POLICIES
from lily.api.routes.access.collection import router_of

router = router_of(
    SCRAPER_POLICIES,
    shapes.SCRAPER_POLICY,
    create=(
        "Creates a scraper policy: which data sources, entity types and columns the tokens of a scraper group "
        "may read and write."
    ),
    replace="Replaces a scraper policy.",
    delete="Deletes a scraper policy.",
)
