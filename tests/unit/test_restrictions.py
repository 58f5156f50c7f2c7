"""What restricts a caller of the API: found once per version of the policies, and for most callers nothing."""

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lily.api.auth.dead_letters import _references, _stated
from lily.api.auth.restrictions import Restrictions, reads_everything, restrictions_of
from lily.api.policy.compiled import TenantPolicies, compiled
from lily.api.services import Services
from lily.model.access import Principal
from lily.policy import NO_CONTEXT, Facts
from lily.policy import Principal as PolicyPrincipal
from lily.store.postgres.policies.snapshot import Snapshot, Stored, Version
from lily.store.postgres.sessions import StoreUnavailable

ANN, BOB = (Principal("id", "t", user, frozenset({"metadata:read"})) for user in ("ann", "bob"))
SCRAPER = Principal("id", "t", "ann", frozenset(), scraper_group="crm")
DENY = {
    "id": "p",
    "name": "No personal data",
    "subjects": [{"user": "bob"}],
    "resources": [{"tag": "PII"}],
    "actions": ["READ"],
    "effect": "deny",
}
SECRET = Facts("00000000-0000-0000-0000-000000000001", "shop.customers", "table", "crm", (), ["pii"])


class Cache:
    """The policies of one tenant, without a store behind them; None: PostgreSQL does not respond."""

    def __init__(self, policies: TenantPolicies | None) -> None:
        self._policies = policies
        self.looked_up = 0

    def current(self, _tenant: str) -> TenantPolicies | None:
        return self._policies

    async def get(self, _tenant: str) -> TenantPolicies:
        if self._policies is None:
            raise StoreUnavailable("PostgreSQL does not respond")
        return self._policies

    def advance(self) -> None:
        """A change that is looked up, not compiled."""
        assert self._policies is not None
        version = self._policies.version
        self._policies = self._policies.at(version._replace(number=version.number + 1))

    async def principal(self, _policies: TenantPolicies, user: str, groups: Any) -> PolicyPrincipal:
        self.looked_up += 1
        return PolicyPrincipal(user, groups)


def services(*bodies: dict[str, Any], kind: str = "policy") -> tuple[Services, Cache]:
    stored = [Stored(kind, body["id"], 1, body) for body in bodies]
    cache = Cache(compiled("t", Snapshot(Version(1, 1, None), stored), None))
    return cast("Services", SimpleNamespace(policies=cache)), cache


def restrictions(found: Services, principal: Principal, *actions: Any) -> Restrictions | None:
    return asyncio.run(restrictions_of(found, principal, *(actions or ("READ",))))


def test_a_tenant_without_denials_looks_nobody_up() -> None:
    for body in (DENY | {"effect": "allow"}, DENY | {"applies_to": ["data"]}):
        found, cache = services(body)
        assert restrictions(found, BOB) is None
        assert reads_everything(found, BOB)
        assert cache.looked_up == 0


def test_a_caller_is_looked_up_once_per_version_and_unrestricted_if_no_policy_names_it() -> None:
    found, cache = services(DENY)
    assert not reads_everything(found, ANN)  # not known yet: left to the route
    assert restrictions(found, ANN) is None
    assert restrictions(found, ANN) is None
    assert cache.looked_up == 1
    assert reads_everything(found, ANN)
    assert restrictions(found, BOB, "WRITE", "DELETE") is None
    assert restrictions(found, BOB) is not None
    assert not reads_everything(found, BOB)


def test_a_denial_names_the_policy_and_why() -> None:
    found = restrictions(services(DENY)[0], BOB)
    assert found is not None
    denial = found.denial("READ", SECRET, NO_CONTEXT)
    assert denial == ("p", "policy 'No personal data' denies READ to user bob, because of its tag PII")
    assert found.denial("WRITE", SECRET, NO_CONTEXT) is None
    assert found.denial("READ", Facts(SECRET.id, "shop.orders"), NO_CONTEXT) is None


def test_a_token_of_a_scraper_group_is_restricted_without_any_policy() -> None:
    found = restrictions(services()[0], SCRAPER, "WRITE")
    assert found is not None
    denial = found.denial("WRITE", SECRET, NO_CONTEXT)
    assert denial is not None
    assert "no scraper policy of the group 'crm' exists" in denial.reason
    covering = {"id": "s", "name": "s", "scraper_group": "CRM", "sources": ["crm"]}
    covered = restrictions(services(covering, kind="scraper-policy")[0], SCRAPER, "WRITE")
    assert covered is not None
    assert covered.denial("WRITE", SECRET, NO_CONTEXT) is None
    assert not reads_everything(services(covering, kind="scraper-policy")[0], SCRAPER)


def test_what_cannot_be_known_is_not_assumed() -> None:
    found = cast("Services", SimpleNamespace(policies=Cache(None)))
    assert not reads_everything(found, ANN)
    with pytest.raises(StoreUnavailable):
        restrictions(found, ANN)


def test_callers_who_share_a_user_name_but_not_their_groups_are_restricted_apart() -> None:
    found, _ = services(DENY | {"subjects": [{"group": "interns"}]})
    intern = Principal("id", "t", "ann", frozenset(), groups=frozenset({"interns"}))
    for _ in range(2):
        assert restrictions(found, ANN) is None
        assert restrictions(found, intern) is not None
        assert reads_everything(found, ANN)
        assert not reads_everything(found, intern)


def test_the_token_of_a_scraper_group_is_not_taken_for_its_users_other_tokens() -> None:
    found, _ = services(DENY)
    for _ in range(2):
        assert restrictions(found, ANN) is None
        bound = restrictions(found, SCRAPER)
        assert bound is not None
        assert bound.denial("READ", SECRET, NO_CONTEXT) is not None


def test_what_restricts_a_caller_is_looked_up_again_after_a_change_of_users() -> None:
    """A new version that compiles to the same policies may come from a user who got another group."""
    found, cache = services(DENY)
    assert restrictions(found, ANN) is None
    cache.advance()
    assert not reads_everything(found, ANN)
    assert restrictions(found, ANN) is None
    assert cache.looked_up == 2


@pytest.mark.parametrize(
    ("data", "tags"),
    [
        ({"attributes": {"tags": ["PII", "draft"]}}, {"pii", "draft"}),
        ({"operation": "tag", "tag": "PII"}, {"pii"}),
        ({"attributes": {"tags": ["draft", 7]}, "tag": "PII"}, {"draft", "pii"}),
        ({"attributes": "none", "tag": 7}, set()),
    ],
)
def test_a_dead_letter_is_about_the_asset_with_the_tags_that_it_states(data: dict[str, Any], tags: set[str]) -> None:
    facts = _stated("t", {"qualified_name": "shop.customers", "entity_type": "table"} | data)
    assert (facts.qualified_name, facts.entity_type, set(facts.tags)) == ("shop.customers", "table", tags)


@pytest.mark.parametrize(
    ("data", "named"),
    [
        ({"qualified_name": "a"}, ["a"]),
        ({"from": "a", "to": "b"}, ["a", "b"]),
        ({"edges": [["a", "b", "derived-from"], ["c", 7], "d"]}, ["a", "b", "c"]),
        ({"qualified_name": 7, "from": "", "edges": "a"}, []),
    ],
)
def test_a_dead_letter_names_its_asset_or_both_ends_of_every_edge(data: dict[str, Any], named: list[str]) -> None:
    assert list(_references(data)) == named
