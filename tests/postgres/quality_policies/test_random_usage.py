"""Random usage ends in the findings of an oracle."""

from datetime import timedelta
from random import Random
from typing import Any

import pytest

from tests import quality_oracle
from tests.postgres.quality import NOW, Watched
from tests.quality_oracle import Used

POLICIES: dict[str, dict[str, Any]] = {
    "deviation": {"policy_type": "query_count_deviation", "threshold": 40, "days": 3},
    "early": {"policy_type": "query_count_deviation", "threshold": 15, "days": 5, "delay_hours": 0},
    "spike": {"policy_type": "query_spike", "threshold": 30},
    "drop": {"policy_type": "traffic_drop", "threshold": 60, "filters": {"entity_types": ["table"]}},
    "unused": {"policy_type": "unused_for_x_days", "threshold": 4, "filters": {"entity_types": ["table"]}},
}


@pytest.mark.parametrize("seed", range(6))
def test_random_usage_in_random_batches_ends_in_the_findings_of_the_oracle(watched: Watched, seed: int) -> None:
    random = Random(seed)
    names = [f"shop.t{number}" for number in range(6)]
    for name in names:
        watched.world.asset(name)
    watched.age(*names)
    for key, stated in POLICIES.items():
        watched.policy(key, asset="*", **stated)
    events: list[Used] = []
    now = NOW - timedelta(days=4)
    while now <= NOW:
        batch = [random_use(random, names, now) for _ in range(random.randrange(1, 25))]
        batch += random.sample(events, min(len(events), random.randrange(4)))
        events += batch
        watched.count(batch, now)
        for key in POLICIES:
            watched.pass_over(key, now)
        expected = expected_findings(events, names, now)
        assert watched.open() == expected
        now += timedelta(hours=random.choice([1, 5, 13, 24]))
    opened = [said for said in watched.statements() if said["state"] == "open"]
    assert len({said["external_id"] for said in opened}) == len(opened)
    assert len(watched.statements()) == 2 * len(opened) - len(watched.open())


def random_use(random: Random, names: list[str], now: Any) -> Used:
    """Repeats are only recognised by their ids, so every event has one."""
    at = now - timedelta(days=random.choice([0, 0, 1, 1, 2, 3, 5, 8, 12]), hours=random.randrange(12))
    return Used(random.choice(names), at, random.randrange(20), f"e{random.getrandbits(40)}")


def expected_findings(events: list[Used], names: list[str], now: Any) -> set[tuple[str, str, str]]:
    counts = quality_oracle.daily(events)
    return {
        (key, name, cause)
        for key, stated in POLICIES.items()
        for name in names
        for cause in quality_oracle.causes(stated, counts, name, now)
    }
