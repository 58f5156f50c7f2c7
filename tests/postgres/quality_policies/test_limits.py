"""How many quality policies a tenant may have."""

from tests.postgres.quality import Watched

SPIKE = {"asset": "shop.orders", "policy_type": "query_spike", "threshold": 1}


def test_a_tenant_has_a_limited_number_of_policies_and_can_still_change_them(watched: Watched) -> None:
    assert [watched.create(key, 2, **SPIKE) for key in ("one", "two", "three")] == [True, True, False]
    assert not watched.create("two", 10, **SPIKE), "it exists already"
    watched.policy("two", **SPIKE | {"threshold": 2})
    watched.unwatch("one")
    assert watched.create("three", 2, **SPIKE)
    rows = watched.connection.execute("select key from quality_policies where tenant_id = %s", [watched.tenant])
    assert {key for (key,) in rows} == {"two", "three"}
