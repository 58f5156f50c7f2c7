"""What the benchmark attributes to whom, which sizes it calls flat, and what runs unasked."""

import threading
from pathlib import Path

import pytest

from bench.__main__ import chosen_from
from bench.findings import BenchError, Finding
from bench.parts import CLIENT, COLLECTOR, COMPILERS, JOBS, REACTIONS, RELAY, place_of
from bench.soak import bound_of
from bench.trend import BOUNDED, FLAT, GROWS, trend
from lily.reactions.threads import ThreadGroup


def test_a_soak_runs_only_if_it_is_named() -> None:
    assert "soak" not in {measurement.name for measurement in chosen_from([])}
    assert [measurement.name for measurement in chosen_from(["soak"])] == ["soak"]


@pytest.mark.parametrize(
    ("thread", "place"),
    [
        ("relay", RELAY),
        ("propagation", REACTIONS),
        ("notifications", REACTIONS),
        ("jobs-3", JOBS),
        ("rdk:broker1", CLIENT),
        ("C2 CompilerThre", COMPILERS),
        ("C1 CompilerThre", COMPILERS),
        ("VM Thread", COLLECTOR),
        ("Executor task l", ""),
        ("python", ""),
    ],
)
def test_a_thread_belongs_to_what_its_name_says(thread: str, place: str) -> None:
    assert place_of(thread) == place


def test_a_thread_of_the_worker_shows_its_name_to_the_system() -> None:
    stop, shown = threading.Event(), list[str]()

    def run() -> None:
        shown.append(Path(f"/proc/self/task/{threading.get_native_id()}/comm").read_text().strip())

    threads = ThreadGroup(stop)
    threads.start("notifications-of-all", run)
    threads.join()
    assert shown == ["notifications-o"]


def test_what_stays_within_two_percent_is_flat() -> None:
    assert trend([10, 80, 100, 100, 101, 102, 102, 103, 103], negligible=0) == FLAT


def test_what_is_cut_now_and_then_is_bounded() -> None:
    assert trend([10, 90, 200, 10, 20, 30, 100, 150, 199], negligible=0) == BOUNDED


def test_what_exceeds_all_before_grows_unless_by_something_negligible() -> None:
    sizes = [100, 110, 120, 130, 140, 150, 160, 170, 180]
    assert trend(sizes, negligible=0) == GROWS
    assert trend(sizes, negligible=50) == FLAT


def test_too_few_looks_are_no_trend() -> None:
    with pytest.raises(BenchError, match="too few"):
        trend([1, 2, 3, 4, 5], negligible=0)


def test_what_grows_with_the_history_names_its_bound_and_the_state_has_none() -> None:
    assert bound_of("table changes") == bound_of("index changes_pkey of changes") == "LILY_RETENTION__CHANGE_DAYS"
    assert bound_of("lake events: bytes")
    for state in ("table assets", "index assets_pkey of assets", "memory: worker", "lag: asset-ingestion-events"):
        assert bound_of(state) == ""


def test_a_size_is_shown_with_its_first_its_last_and_its_largest_value() -> None:
    found = Finding(what="table changes", unit="MB", values=[1.0, 9.0, 3.0], trend=BOUNDED)
    assert found.shown_value() == "1.00 → 3.00 MB, at most 9.00"
