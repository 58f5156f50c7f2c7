"""The refresher in a real PostgreSQL, with the test's clock: what is due, never twice, made up for, timed out."""

import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta

import psycopg
import pytest

from lily.bus import topics
from lily.incidents import INCIDENT_STATED, SERIES_PASSED, IncidentStatement
from lily.store.postgres.refreshes.refresher import delete_old_runs, turn
from tests.lineage_world import World
from tests.postgres.incidents import IncidentWorld
from tests.postgres.migrated import Migrated
from tests.postgres.refreshes import DAY, HOUR, START, RefreshWorld

SECOND = timedelta(seconds=1)


@pytest.fixture
def shop(migrated: Migrated, make_world: Callable[[], World], owner: psycopg.Connection) -> Iterator[RefreshWorld]:
    """A tenant with one data source, just seen."""
    world = make_world()
    world.asset("shop.orders", data_source="shop")
    world.asset("shop.customers", data_source="shop")
    world.asset("unsourced")
    with closing(RefreshWorld(migrated, world, owner)) as found:
        found.turn()
        yield found


def test_a_data_source_that_assets_name_is_refreshed_a_day_after_it_was_first_seen(shop: RefreshWorld) -> None:
    shop.wait(DAY - SECOND)
    assert shop.runs() == []
    shop.wait(SECOND)
    (run,) = shop.runs()
    assert (run["state"], run["reason"], run["due_at"], run["requested_at"]) == (
        "requested",
        "schedule",
        *(2 * [shop.now]),
    )
    assert run["deadline"] == shop.now + 4 * HOUR
    schedule = shop.schedule("shop")
    assert schedule is not None
    assert (schedule["run_id"], schedule["configured"]) == (str(run["run_id"]), False)
    assert schedule["next_at"] == "2026-01-03T00:00:00.000000Z"


def test_the_request_is_one_event_whose_id_follows_from_the_run(shop: RefreshWorld) -> None:
    shop.wait(DAY)
    (run,) = shop.runs()
    (event,) = shop.published()
    assert (event.topic, event.key) == (topics.SCRAPING_JOBS, f"{shop.tenant}/shop".encode())
    assert (event.event["type"], event.event["id"]) == ("lily.refresh.requested", f"refresh-{run['run_id']}")
    assert event.event["data"] == {
        "run_id": str(run["run_id"]),
        "data_source": "shop",
        "requested_at": "2026-01-02T00:00:00.000000Z",
        "due_at": "2026-01-02T00:00:00.000000Z",
        "timeout": "4h",
        "reason": "schedule",
    }
    assert shop.published() == [event]


def test_a_run_that_is_not_finished_holds_the_next_one_back(shop: RefreshWorld) -> None:
    shop.set("shop", every=HOUR, timeout=10 * HOUR)
    shop.wait(HOUR)
    (run,) = shop.runs()
    for _ in range(3):
        shop.wait(HOUR)
    assert len(shop.runs()) == 1
    assert shop.start(str(run["run_id"]))
    shop.wait(HOUR)
    assert len(shop.runs()) == 1
    assert shop.finish(str(run["run_id"]))
    shop.wait(SECOND)
    assert [run["state"] for run in shop.runs()] == ["succeeded", "requested"]
    assert shop.runs()[1]["reason"] == "catch-up"


def test_downtime_of_days_is_made_up_for_by_one_run(shop: RefreshWorld) -> None:
    shop.wait(10 * DAY + HOUR)
    (run,) = shop.runs()
    assert (run["reason"], run["due_at"]) == ("catch-up", START + DAY)
    assert shop.finish(str(run["run_id"]))
    shop.wait(22 * HOUR)
    assert len(shop.runs()) == 1
    shop.wait(HOUR)
    assert shop.runs()[1]["due_at"] == START + 11 * DAY


@pytest.mark.parametrize(("late", "reason"), [(6 * HOUR - SECOND, "schedule"), (6 * HOUR, "catch-up")])
def test_a_request_that_misses_the_next_one_is_a_catch_up(shop: RefreshWorld, late: timedelta, reason: str) -> None:
    shop.set("shop", every=6 * HOUR)
    shop.wait(6 * HOUR + late)
    assert [run["reason"] for run in shop.runs()] == [reason]


def test_workers_that_take_turns_at_the_same_time_request_one_run(migrated: Migrated, shop: RefreshWorld) -> None:
    shop.now += DAY
    barrier = threading.Barrier(8)

    def worker() -> None:
        with psycopg.connect(migrated.url_of("lily_pipeline")) as connection:
            barrier.wait()
            turn(connection, shop.now)

    threads = [threading.Thread(target=worker) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(shop.runs()) == 1
    assert len(shop.published()) == 1


def test_a_worker_that_dies_in_its_turn_leaves_nothing_and_the_next_one_requests_the_run(
    migrated: Migrated, shop: RefreshWorld, owner: psycopg.Connection
) -> None:
    shop.now += DAY
    connection = psycopg.connect(migrated.url_of("lily_pipeline"))
    turn(connection, shop.now)
    owner.execute("select pg_terminate_backend(%s)", [connection.info.backend_pid])
    with pytest.raises(psycopg.OperationalError):
        connection.commit()
    connection.close()
    assert shop.runs() == []
    schedule = shop.schedule("shop")
    assert schedule is not None
    assert schedule["next_at"] == "2026-01-02T00:00:00.000000Z"
    shop.turn()
    assert len(shop.runs()) == len(shop.published()) == 1


def test_a_run_that_a_scraper_started_times_out_and_becomes_an_incident(shop: RefreshWorld) -> None:
    shop.wait(DAY)
    assert shop.start(str(shop.runs()[0]["run_id"]))
    shop.wait(4 * HOUR)
    (run,) = shop.runs()
    assert (run["state"], run["error"]) == ("timed_out", "the scraper did not report the end in time")
    assert not shop.finish(str(run["run_id"]))
    _, event = shop.published()
    assert (event.topic, event.event["type"]) == (topics.INCIDENTS, INCIDENT_STATED)
    assert event.event["data"]["kind"] == "refresh_failed"
    assert event.event["data"]["source"] == "refresher"


def test_a_request_that_no_scraper_took_is_an_incident_only_if_a_person_configured_it(shop: RefreshWorld) -> None:
    shop.wait(DAY)
    shop.wait(4 * HOUR)
    assert [run["state"] for run in shop.runs()] == ["timed_out"]
    assert [one.topic for one in shop.published()] == [topics.SCRAPING_JOBS]
    shop.set("shop", every=HOUR, timeout=HOUR)
    shop.wait(HOUR)
    shop.wait(HOUR)
    assert [one.event["type"] for one in shop.published() if one.topic == topics.INCIDENTS] == [INCIDENT_STATED]


def test_failures_in_a_row_are_one_incident_and_a_success_resolves_it(
    shop: RefreshWorld, incidents: IncidentWorld
) -> None:
    for state in ("failed", "failed", "succeeded", "failed"):
        shop.wait(DAY)
        assert shop.finish(str(shop.runs()[-1]["run_id"]), state, "boom" if state == "failed" else "")
    outcomes = [one for one in shop.published() if one.topic == topics.INCIDENTS]
    assert [one.event["type"] for one in outcomes] == [INCIDENT_STATED, INCIDENT_STATED, SERIES_PASSED, INCIDENT_STATED]
    incidents.world = shop.world
    # The order of the log does not matter.
    incidents.handle(*(incidents.record(one.key, one.event) for one in reversed(outcomes)))
    first, _, _, last = (str(run["run_id"]) for run in shop.runs())
    assert {name: row["state"] for name, row in incidents.incidents().items()} == {first: "resolved", last: "open"}
    assert incidents.incidents()[last]["description"] == "boom"


def test_a_failure_after_a_person_resolved_the_incident_is_a_new_one(
    shop: RefreshWorld, incidents: IncidentWorld
) -> None:
    incidents.world = shop.world
    shop.wait(DAY)
    assert shop.finish(str(shop.runs()[0]["run_id"]), "failed", "boom")
    first = str(shop.runs()[0]["run_id"])
    incidents.handle(
        *(incidents.record(one.key, one.event) for one in shop.published() if one.topic == topics.INCIDENTS)
    )
    incidents.say(IncidentStatement("refresher", first, "resolved", rank=2, by="ann"))
    for _ in range(2):
        shop.wait(DAY)
        assert shop.finish(str(shop.runs()[-1]["run_id"]), "failed", "boom")
    _, second, third = shop.runs()
    assert (second["failure"], third["failure"]) == (str(second["run_id"]), str(second["run_id"]))


def test_a_run_is_handed_to_one_scraper_and_to_another_once_its_lease_has_ended(shop: RefreshWorld) -> None:
    shop.wait(DAY)
    assert shop.take("warehouse") is None
    mine, theirs = str(uuid.uuid4()), str(uuid.uuid4())
    taken = shop.take("warehouse", "shop", lease=mine)
    assert taken is not None
    run = taken["run_id"]
    assert shop.take("shop", lease=mine) == taken
    assert shop.take("shop", lease=theirs) is None
    assert not shop.start(run)
    assert not shop.start(run, theirs)
    assert not shop.finish(run, lease=theirs)
    shop.now += 100 * SECOND
    assert shop.start(run, mine)
    shop.now += 100 * SECOND
    assert shop.take("shop", lease=theirs) is None
    shop.now += 20 * SECOND
    taken_over = shop.take("shop", lease=theirs)
    assert taken_over is not None
    assert taken_over["run_id"] == run
    assert not shop.finish(run, lease=mine)
    assert shop.finish(run, lease=theirs)
    assert len(shop.runs()) == 1


def test_a_run_whose_time_is_over_is_neither_taken_nor_started(shop: RefreshWorld) -> None:
    shop.set("shop", every=DAY, timeout=4 * HOUR)
    shop.wait(DAY)
    run = str(shop.runs()[0]["run_id"])
    shop.now += 4 * HOUR
    assert shop.take("shop") is None
    assert not shop.start(run)
    shop.now -= SECOND
    assert shop.start(run)


def test_what_a_person_does_is_audited_once(shop: RefreshWorld) -> None:
    shop.set("shop", every=6 * HOUR)
    shop.set("shop", every=6 * HOUR)
    run = str(uuid.uuid4())
    for _ in range(2):
        shop.request("shop", run)
        shop.reset("shop")
    assert shop.audited() == ["refresh-schedule.put", "refresh.requested", "refresh-schedule.delete"]


def test_pages_of_runs_follow_each_other_without_gap_or_repetition(shop: RefreshWorld) -> None:
    sources = [f"source{number}" for number in range(5)]
    for name in sources:
        shop.set(name, every=6 * HOUR)
    shop.wait(6 * HOUR)
    pages = shop.pages(2)
    assert [len(page) for page in pages] == [2, 2, 1]
    assert sorted(run["data_source"] for page in pages for run in page) == sources


def test_finished_runs_are_forgotten_after_their_time_and_unfinished_ones_are_not(
    shop: RefreshWorld, owner: psycopg.Connection
) -> None:
    for source, finished in (("old", 91), ("kept", 89), ("unfinished", None)):
        shop.set(source)
        run = str(uuid.uuid4())
        shop.request(source, run)
        if finished is not None:
            assert shop.finish(run)
            aged = "update refresh_runs set finished_at = now() - make_interval(days => %s) where run_id = %s"
            owner.execute(aged, [finished, run])
    delete_old_runs(owner)
    assert {source: len(shop.runs(source)) for source in ("old", "kept", "unfinished")} == {
        "old": 0,
        "kept": 1,
        "unfinished": 1,
    }


def test_a_run_that_a_person_requests_waits_for_nothing_and_is_never_a_second_one(shop: RefreshWorld) -> None:
    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    assert shop.request("shop", first) == first
    assert shop.request("shop", first) == first
    assert shop.request("shop", second) == first
    assert shop.request("nowhere", second) is None
    assert [(str(run["run_id"]), run["reason"]) for run in shop.runs()] == [(first, "manual")]
    assert shop.finish(first)
    assert shop.request("shop", second) == second


def test_a_schedule_that_is_switched_off_requests_nothing_until_it_is_switched_on(shop: RefreshWorld) -> None:
    shop.set("shop", on=False)
    shop.wait(3 * DAY)
    assert shop.runs() == []
    shop.set("shop", every=6 * HOUR)
    shop.turn()
    assert len(shop.runs()) == 1


def test_a_data_source_can_be_configured_before_an_asset_names_it(shop: RefreshWorld) -> None:
    shop.set("warehouse", every=6 * HOUR)
    shop.wait(6 * HOUR)
    assert len(shop.runs("warehouse")) == 1
    assert shop.reset("warehouse")
    assert not shop.reset("nowhere")
    assert shop.finish(str(shop.runs("warehouse")[0]["run_id"]))
    shop.turn()
    assert shop.schedule("warehouse") is None


def test_a_data_source_that_no_asset_names_any_more_is_forgotten(shop: RefreshWorld) -> None:
    shop.world.asset("shop.orders", data_source="mall")
    shop.turn()
    assert shop.schedule("shop") is not None
    shop.world.asset("shop.customers", data_source="mall")
    shop.turn()
    assert shop.schedule("shop") is None
    assert shop.schedule("mall") is not None


def test_finding_data_sources_does_not_read_the_assets(migrated: Migrated, shop: RefreshWorld) -> None:
    for number in range(300):
        shop.world.asset(f"shop.t{number}", data_source="shop")
    with psycopg.connect(migrated.owner, autocommit=True) as owner:
        owner.execute("vacuum analyze assets")
    with psycopg.connect(migrated.url_of("lily_pipeline")) as connection:
        before = _read(connection)
        turn(connection, shop.now)
        sources = connection.execute("select count(*) from refresh_schedules").fetchone()
        assert sources is not None
        assert _read(connection) - before <= 5 * sources[0] + 5


def _read(connection: psycopg.Connection) -> int:
    """The rows of assets that this transaction has read so far, by any plan."""
    row = connection.execute(
        "select pg_stat_get_xact_tuples_returned('assets'::regclass) "
        "+ coalesce(sum(pg_stat_get_xact_tuples_fetched(indexrelid)), 0) "
        "+ coalesce(sum(pg_stat_get_xact_tuples_returned(indexrelid)), 0) "
        "from pg_index where indrelid = 'assets'::regclass"
    ).fetchone()
    assert row is not None
    return int(row[0])
