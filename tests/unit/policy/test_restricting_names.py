"""What counts of an asset because the name of another one is below it."""

from lily.policy.candidates import restricting_by
from lily.policy.requests import Ancestor, Facts


def test_what_is_named_below_an_asset_has_the_ancestors_of_both() -> None:
    shop, table, elsewhere = (Ancestor(name, name) for name in ("shop", "shop.people", "elsewhere"))
    asset = Facts("c", "shop.people.email", "column", ancestors=(elsewhere,), tags=frozenset({"gdpr"}))
    above = Facts(table.id, table.qualified_name, "table", ancestors=(shop, elsewhere), tags=frozenset({"pii"}))
    found = restricting_by(asset, above)
    assert found.restricts_only
    assert found.ancestors == (elsewhere, table, shop)
    assert found.tags == {"gdpr", "pii"}
