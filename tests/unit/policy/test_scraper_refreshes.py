"""Which data sources the tokens of a scraper group may refresh."""

from lily.policy.scrapers import ScraperIndex, ScraperPolicy


def test_a_group_refreshes_the_data_sources_that_a_policy_of_it_covers() -> None:
    index = ScraperIndex(
        [
            ScraperPolicy("1", "shop", "crawlers", sources=("Shop",)),
            ScraperPolicy("2", "any", "robots", sources=("*",)),
            ScraperPolicy("3", "types", "typists", entity_types=("table",)),
        ]
    )
    assert index.may_refresh("Crawlers", "shop")
    assert not index.may_refresh("crawlers", "mall")
    assert index.may_refresh("robots", "mall")
    assert index.may_refresh("typists", "mall")
    assert not index.may_refresh("strangers", "shop")
