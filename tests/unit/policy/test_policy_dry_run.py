"""What a dry run compares if tags change, and what it reports to have left out."""

from lily.api.policy.dry_run import MAX_ASSETS, _reached
from lily.api.policy.retagging import Retagging
from lily.model import ids
from lily.policy import Facts


def test_tags_are_applied_to_the_facts_of_an_asset() -> None:
    retagging = Retagging({"x": {"pii"}}, {"x": {"draft"}, "y": {"pii"}})
    facts = Facts("x", "shop.x", "table", "shop", (), ["draft", "finance"], {"owner": "ann"})
    after = retagging.applied(facts)
    assert set(after.tags) == {"pii", "finance"}
    assert (after.qualified_name, after.data_source, after.attributes) == ("shop.x", "shop", {"owner": "ann"})
    untouched = Facts("z", tags=["pii"])
    assert retagging.applied(untouched) is untouched


def test_assets_that_gain_or_lose_a_tag_are_compared_once_and_up_to_a_limit() -> None:
    named = ids.asset_id("default", "shop.orders")
    reached = [f"00000000-0000-8000-8000-{number:012}" for number in range(MAX_ASSETS + 5)]
    cut: list[str] = []
    few = Retagging({named: {"pii"}, reached[0]: {"pii"}}, {reached[0]: {"draft"}})
    assert _reached("default", few, ["shop.orders"], cut) == [reached[0]]
    assert cut == []
    many = Retagging({asset: {"pii"} for asset in reached})
    assert _reached("default", many, ["shop.orders"], cut) == reached[:MAX_ASSETS]
    (reported,) = cut
    assert reported.startswith(f"assets: the first {MAX_ASSETS} of {MAX_ASSETS + 5} that gain or lose a tag")
