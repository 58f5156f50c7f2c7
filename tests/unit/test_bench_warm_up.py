"""The benchmark's warm-up, and the events that a source repeats."""

import orjson

from bench.events import Payloads, asset
from bench.warm_up import AGREE_WITHIN, spread, until_steady


def test_it_ends_when_three_windows_in_a_row_agree() -> None:
    costs = iter([300.0, 200.0, 180.0, 160.0, 159.0, 158.0, 1.0])
    assert until_steady(lambda: next(costs), lambda: True) == [300.0, 200.0, 180.0, 160.0, 159.0, 158.0]


def test_two_that_agree_are_not_enough() -> None:
    costs = iter([100.0, 100.0, 150.0, 100.0, 100.0, 100.0])
    assert len(until_steady(lambda: next(costs), lambda: True)) == 6


def test_it_ends_when_the_time_is_up_and_says_that_they_do_not_agree() -> None:
    costs = iter([100.0, 200.0, 300.0, 400.0])
    found = until_steady(lambda: next(costs), lambda: False)
    assert found == [100.0, 200.0, 300.0]
    assert spread(found) > AGREE_WITHIN


def test_what_is_read_again_states_the_same_but_for_a_share() -> None:
    assets = [asset(number) for number in range(1000)]

    def stated(changed: float) -> list[dict[str, object]]:
        return [orjson.loads(value)["data"] for _, value in Payloads(assets, changed=changed).take(len(assets))]

    assert stated(0.0) == stated(0.0)
    once, again = stated(0.05), stated(0.05)
    assert 20 < sum(one != other for one, other in zip(once, again, strict=True)) < 80
    same = stated(0.0)
    assert all(one == base for one, other, base in zip(once, again, same, strict=True) if one == other)
    assert all(one != other for one, other in zip(stated(1.0), stated(1.0), strict=True))
