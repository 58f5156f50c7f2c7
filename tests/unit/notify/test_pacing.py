"""How fast a destination is called, mutes, and mentions."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from lily.notify.events import Occurrence, Subject
from lily.notify.mentions import destinations, mentioned
from lily.notify.mutes import Mute, muting
from lily.notify.pacing import LONGEST_PAUSE, Pace

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_a_destination_that_fails_is_paused_for_longer_and_longer_and_then_probed() -> None:
    pace, pauses = Pace(), []
    for _ in range(10):
        pace = pace.failed(NOW, "500")
        pauses.append(pace.pause(NOW))
    assert pauses[:4] == [1.0, 2.0, 4.0, 8.0]
    assert pauses[-1] == LONGEST_PAUSE
    assert pace.probing
    assert not Pace().probing
    assert pace.succeeded() == Pace()


def test_an_outage_of_ten_minutes_costs_few_calls() -> None:
    pace, now, calls = Pace(), NOW, 0
    while now < NOW + timedelta(minutes=10):
        pace, calls = pace.failed(now, "500"), calls + 1
        now += timedelta(seconds=pace.pause(now))
    assert calls < 20


def test_a_receiver_that_asks_for_a_longer_pause_gets_it() -> None:
    assert Pace().failed(NOW, "429", requested=30.0).pause(NOW) == 30.0
    assert Pace().failed(NOW, "429", requested=0.1).pause(NOW) == 1.0
    assert Pace().failed(NOW, "429", requested=1e9).pause(NOW) == 3_600.0


def test_a_receiver_that_hangs_is_left_alone_for_longer_than_it_hung() -> None:
    assert Pace().failed(NOW, "no response", took=10.0).pause(NOW) == 50.0


@given(st.floats(0.1, 100), st.lists(st.tuples(st.floats(0, 5), st.integers(1, 50)), max_size=30))
def test_no_more_is_sent_than_the_limit_and_one_burst(per_second: float, steps: list[tuple[float, int]]) -> None:
    pace, now, sent = Pace(), NOW, 0
    for seconds, wanted in steps:
        now += timedelta(seconds=seconds)
        pace = pace.refilled(per_second, now)
        room = pace.room(per_second, wanted)
        pace, sent = pace.spent(per_second, room), sent + room
        assert 0 <= room <= wanted
        if room < wanted:
            assert pace.refilled(per_second, now + timedelta(seconds=pace.wait(per_second) + 1e-5)).tokens >= 0.999
    passed = (now - NOW).total_seconds()
    assert sent <= max(1.0, per_second) + passed * per_second + 1e-6


def test_without_a_limit_all_is_sent_at_once() -> None:
    pace = Pace().refilled(None, NOW)
    assert pace.room(None, 10_000) == 10_000
    assert pace.wait(None) == 0.0


SUBJECT = Subject("a", "table", "shop.orders", ancestors=frozenset({"s"}))
EVENT = Occurrence("e", ("asset.updated", "tag.tagged"), "info", "", (SUBJECT,))


def test_a_mute_covers_an_asset_what_is_below_it_and_kinds() -> None:
    for asset, kind, covers in (
        ("a", None, True),
        ("s", None, True),
        ("b", None, False),
        (None, "tag.*", True),
        ("a", "incident.*", False),
        ("a", "asset.updated", True),
    ):
        assert (muting((Mute("m", asset, kind, None),), EVENT, NOW) is not None) == covers


def test_a_mute_ends_and_one_asset_that_is_not_muted_is_enough() -> None:
    assert muting((Mute("m", "a", None, NOW),), EVENT, NOW) is None
    assert muting((Mute("m", "a", None, NOW + timedelta(seconds=1)),), EVENT, NOW) is not None
    assert muting((Mute("m", "a", None, None),), EVENT.about((SUBJECT, Subject("b"))), NOW) is None
    without = Occurrence("e", ("incident.opened",), "info", "")
    assert muting((Mute("m", "a", None, None),), without, NOW) is None
    assert muting((Mute("m", None, "incident.*", None),), without, NOW) is not None


def test_owners_become_handles_of_the_channel_or_of_its_type() -> None:
    handles = {"ann": {"slack": "<@U1>"}, "bi-team": {"slack": "<!S1>", "ops slack": "<!S2>"}}
    assert mentioned(handles, {"Ann", "BI-Team", "nobody"}, "ops slack", "slack") == {
        "Ann": "<@U1>",
        "BI-Team": "<!S2>",
    }
    assert destinations("#data", handles, {"ann"}, "c", "slack") == ["#data"]
    assert destinations("@owners", handles, {"ann"}, "c", "slack") == ["<@U1>"]
    assert destinations("@owners", handles, {"ann"}, "c", "jira") == []
