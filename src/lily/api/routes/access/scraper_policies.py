"""`/scraper-policies`: what connectors may read and write."""

from lily.api.http.openapi import policy_examples as examples
from lily.api.http.openapi.parameters import SCRAPER_POLICY_PATH
from lily.api.http.openapi.policy_bodies import SCRAPER_POLICY
from lily.api.http.openapi.policy_responses import Deleted, ScraperPolicies, ScraperPolicyResponse
from lily.api.policy.administration import SCRAPER_POLICIES
from lily.api.routes.access.collection import Shapes, router_of

router = router_of(
    SCRAPER_POLICIES,
    Shapes(
        SCRAPER_POLICY_PATH, SCRAPER_POLICY, examples.SCRAPER_POLICY, ScraperPolicyResponse, ScraperPolicies, Deleted
    ),
    create=(
        "Creates a scraper policy: which data sources, entity types and columns the tokens of a scraper group "
        "may read and write."
    ),
    replace="Replaces a scraper policy.",
    delete="Deletes a scraper policy.",
)
