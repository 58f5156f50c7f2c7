"""Refreshes on the running stack: schedules, runs that scrapers take, and the command line."""

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import orjson
import pytest
from confluent_kafka import Consumer, TopicPartition

from lily.bus import topics
from tests.contract.access import create
from tests.contract.door import Door
from tests.contract.incidents import found

pytestmark = pytest.mark.campaign  # each of its scrapers is a process

RECIPE = """
data_source = "shop"

[source]
type = "file"
path = "{path}"

[sink]
url = "${{LILY}}"
token = "${{SECRET}}"
wait = 30
"""


def lily(door: Door, *words: str) -> tuple[int, Any]:
    environment = {**os.environ, "LILY": door.stack.url, "SECRET": door.token}
    environment |= {"LILY_URL": door.stack.url, "LILY_TOKEN": door.token}
    command = [sys.executable, "-m", "lily", *words, "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


def recipe(directory: Path, rows: str) -> str:
    (directory / "assets.csv").write_text(f"entity_type,name,qualified_name,data_source\n{rows}")
    path = directory / "recipe.toml"
    path.write_text(RECIPE.format(path=directory / "assets.csv"))
    return str(path)


def requested(door: Door, data_source: str = "shop") -> str:
    answer = door.http.post(f"/refresh-schedules/{data_source}/run")
    assert answer.status_code == 202, answer.text
    return str(answer.json()["run_id"])


def run(door: Door, run_id: str) -> dict[str, Any]:
    return dict(door.http.get(f"/refresh-runs/{run_id}").json())


def configured(door: Door, data_source: str = "shop", **settings: Any) -> dict[str, Any]:
    answer = door.http.put(f"/refresh-schedules/{data_source}", json=settings)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_a_schedule_is_set_shown_and_set_back(door: Door) -> None:
    assert door.http.get("/refresh-schedules/shop").status_code == 404
    assert door.http.post("/refresh-schedules/shop/run").status_code == 404
    shown = configured(door, "shop/eu".replace("/", "%2F"), every="90m", timeout="45s")
    assert (shown["data_source"], shown["every"], shown["timeout"]) == ("shop/eu", "1h30m", "45s")
    assert (shown["enabled"], shown["configured"], shown["run_id"], shown["last_run"]) == (True, True, None, None)
    assert door.http.get("/refresh-schedules").json()["items"] == [shown]
    assert configured(door, "shop%2Feu", enabled=False)["next_at"] is None
    reset = door.http.delete("/refresh-schedules/shop%2Feu")
    assert (reset.status_code, reset.json()) == (200, {"status": "success", "data_source": "shop/eu"})


def test_a_schedule_that_makes_no_sense_is_refused_with_the_reason(door: Door) -> None:
    for body, field in (
        ({"every": "often"}, "every"),
        ({"every": "1s"}, "every"),
        ({"timeout": "30d"}, "timeout"),
        ({"evry": "6h"}, "evry"),
        ({"enabled": "yes"}, "enabled"),
    ):
        answer = door.http.put("/refresh-schedules/shop", json=body)
        assert (answer.status_code, answer.json()["errors"][0]["entity"]) == (400, field), answer.text
    assert door.http.get("/refresh-schedules").json()["items"] == []


def test_a_run_is_requested_once_taken_once_and_reported(door: Door) -> None:
    configured(door)
    run_id = requested(door)
    second = door.http.post("/refresh-schedules/shop/run")
    assert (second.status_code, second.json()["errors"][0]["entity"]) == (409, run_id)
    taken = door.http.post("/refresh-runs/take", json={"data_sources": ["shop", "other"]}).json()
    assert (taken["run"]["run_id"], taken["run"]["state"], taken["run"]["reason"]) == (run_id, "running", "manual")
    nothing = door.http.post("/refresh-runs/take", json={}, headers={"Prefer": "wait=1"})
    assert nothing.json() == {"run": None, "lease": None}
    path, lease = f"/refresh-runs/{run_id}", {"lease": taken["lease"]}
    assert door.http.post(f"{path}/start").json()["errors"][0]["code"] == "RUN_HELD"
    assert door.http.post(f"{path}/start", json=lease).status_code == 200
    report = {"state": "succeeded", "counts": {"read": 3}, **lease}
    for _ in range(2):
        done = door.http.post(f"{path}/finish", json=report)
        assert (done.status_code, done.json()["state"], done.json()["counts"]) == (200, "succeeded", {"read": 3})
    late = door.http.post(f"{path}/finish", json={"state": "failed", **lease})
    assert (late.status_code, late.json()["errors"][0]["code"]) == (409, "RUN_FINISHED")
    listed = door.http.get("/refresh-runs", params={"data_source": "shop", "state": "succeeded"}).json()["items"]
    assert [one["run_id"] for one in listed] == [run_id]
    assert door.http.get("/refresh-schedules/shop").json()["last_run"]["run_id"] == run_id


def test_the_request_is_an_event_on_the_topic_of_scraping_jobs(door: Door) -> None:
    configured(door, timeout="1h")
    run_id = requested(door)
    event = published(door, run_id)
    assert (event["type"], event["id"], event["subject"]) == ("lily.refresh.requested", f"refresh-{run_id}", "shop")
    assert (event["data"]["run_id"], event["data"]["timeout"], event["data"]["reason"]) == (run_id, "1h", "manual")


def published(door: Door, run_id: str) -> dict[str, Any]:
    consumer = Consumer({**door.stack.kafka.client, "group.id": f"test-{uuid.uuid4()}", "log_level": 2})
    try:
        partitions = consumer.list_topics(topics.SCRAPING_JOBS, timeout=10).topics[topics.SCRAPING_JOBS].partitions
        consumer.assign([TopicPartition(topics.SCRAPING_JOBS, number, 0) for number in partitions])
        while True:
            message = consumer.poll(60)
            assert message is not None, "the request was not published"
            if message.error() is None and (value := orjson.loads(message.value() or b""))["data"]["run_id"] == run_id:
                assert message.key() == f"{door.tenant}/shop".encode()
                return dict(value)
    finally:
        consumer.close()


def test_lily_ingest_reports_the_run_and_a_failure_is_an_incident_until_one_succeeds(
    door: Door, tmp_path: Path
) -> None:
    configured(door)
    run_id = requested(door)
    code, _ = lily(door, "ingest", "-c", recipe(tmp_path, "tabel,a,a,shop\n"), "--refresh-run", run_id)
    failed = run(door, run_id)
    assert (code, failed["state"], failed["counts"]["rejected"]) == (1, "failed", 1)
    assert "UNKNOWN_ENTITY_TYPE" in failed["error"]
    (incident,) = found(door, source="refresher")
    assert (incident["state"], incident["kind"], incident["external_id"]) == ("open", "refresh_failed", run_id)
    again = requested(door)
    code, report = lily(door, "ingest", "-c", recipe(tmp_path, "table,a,a,shop\n"), "--refresh-run", again)
    assert (code, report["accepted"], run(door, again)["state"]) == (0, 1, "succeeded")
    found(door, source="refresher", until=lambda items: [one["state"] for one in items] == ["resolved"])


def test_lily_refresh_listen_runs_the_recipe_of_the_data_source(door: Door, tmp_path: Path) -> None:
    assert lily(door, "refresh", "set", "shop", "--every", "6h")[1]["every"] == "6h"
    run_id = lily(door, "refresh", "run", "shop")[1]["run_id"]
    path = recipe(tmp_path, "table,orders,shop.orders,shop\n")
    code, done = lily(door, "refresh", "listen", "-c", path, "--once")
    assert (code, done["run_id"], done["accepted"]) == (0, run_id, 1)
    assert door.read("shop.orders")["attributes"]["data_source"] == "shop"
    (listed,) = lily(door, "refresh", "runs", "--state", "succeeded")[1]["items"]
    assert (listed["run_id"], listed["counts"]["read"]) == (run_id, 1)
    assert [one["data_source"] for one in lily(door, "refresh", "list")[1]["items"]] == ["shop"]


def test_a_scraper_takes_and_reports_only_runs_that_its_policies_cover(door: Door) -> None:
    create(door, "/scraper-policies", {"name": "mall", "scraper_group": "crawlers", "sources": ["mall"]})
    configured(door)
    run_id = requested(door)
    with door.limited("metadata:write", scraper_group="crawlers") as scraper:
        for body in ({}, {"data_sources": ["shop"]}):
            assert scraper.http.post("/refresh-runs/take", json=body).status_code == 403
        assert scraper.http.post("/refresh-runs/take", json={"data_sources": ["MALL"]}).json()["run"] is None
        assert scraper.http.post(f"/refresh-runs/{run_id}/start").status_code == 403
    assert run(door, run_id)["state"] == "requested"


def test_another_tenants_run_is_not_found(door: Door, other_door: Door) -> None:
    configured(other_door)
    run_id = requested(other_door)
    assert door.http.get(f"/refresh-runs/{run_id}").status_code == 404
    assert door.http.post(f"/refresh-runs/{run_id}/finish", json={"state": "failed"}).status_code == 404
    assert door.http.post("/refresh-runs/take", json={}).json()["run"] is None
    assert run(other_door, run_id)["state"] == "requested"
