"""What a reaction reports about itself."""

import pytest
from prometheus_client import CollectorRegistry

from lily.reactions import metrics as module
from lily.reactions.metrics import RATE_SECONDS, ReactionMetrics


class Clock:
    now = 100.0

    def monotonic(self) -> float:
        return self.now


def test_the_rate_is_of_the_last_minute_and_falls_to_zero_when_nothing_happens(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, registry = Clock(), CollectorRegistry()
    monkeypatch.setattr(module, "time", clock)
    metrics = ReactionMetrics(registry)
    metrics.register("feed")

    def rate() -> float | None:
        return registry.get_sample_value("lily_reaction_rate", {"reaction": "feed"})

    assert rate() == 0
    metrics.handled("feed", 60, 0.1)
    clock.now += RATE_SECONDS / 2
    metrics.handled("feed", 120, 0.1)
    assert rate() == 180 / RATE_SECONDS
    clock.now += RATE_SECONDS / 2
    assert rate() == 120 / RATE_SECONDS
    clock.now += RATE_SECONDS
    assert rate() == 0
