"""`lily ingest` against the running stack."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.contract.door import Door

pytestmark = pytest.mark.campaign  # each of its runs is a process

RECIPE = """
[source]
type = "file"
path = "${DIRECTORY}"

[[transforms]]
type = "rename"
add_prefix = "eu."

[[transforms]]
type = "add-tags"
match = "*.email"
tags = ["PII"]

[sink]
url = "${LILY}"
token = "${SECRET}"
wait = 30
"""
TABLES = "entity_type,name,qualified_name,parent\ntable,orders,orders,\ncolumn,email,orders.email,orders\n"


def ingest(door: Door, directory: Path, *more: str) -> tuple[int, Any]:
    recipe = directory.with_suffix(".toml")
    recipe.write_text(RECIPE)
    command = [sys.executable, "-m", "lily", "ingest", "-c", str(recipe), "--format", "json", *more]
    variables = {"DIRECTORY": str(directory), "LILY": door.stack.url, "SECRET": door.token}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env={**os.environ, **variables}
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout.splitlines()[-1])


def test_a_recipe_sends_what_its_source_states(door: Door, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.csv").write_text(TABLES)
    edge = {"from": "orders.email", "to": "report", "relationship_type": "used-in"}
    (source / "b.ndjson").write_text(json.dumps(edge) + "\n")
    code, report = ingest(door, source)
    assert (code, report["accepted"], report["edges"], report["rejected"]) == (0, 2, 1, 0), report
    assert door.read("eu.orders.email")["tags"]["source"] == ["PII"]
    edges = door.http.get("/lineage/eu.orders.email").json()["edges"]
    assert [edge["relationship_type"] for edge in edges] == ["used-in"]
    assert ingest(door, source)[1] == report


def test_what_lily_refuses_is_reported_by_name_and_the_rest_is_taken(door: Door, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    bad_edges = [{"from": "a", "to": "a"}, {"from": "a", "to": "b"}]
    (source / "a.csv").write_text(TABLES + "tabel,bad,bad,\ntable,unnamed,,\n")
    (source / "b.ndjson").write_text("\n".join(map(json.dumps, bad_edges)) + "\nnonsense\n")
    code, report = ingest(door, source)
    assert (code, report["accepted"], report["edges"], report["rejected"]) == (1, 2, 1, 4), report
    assert {(error["code"], error["asset"]) for error in report["errors"]} == {
        ("UNKNOWN_ENTITY_TYPE", "eu.bad"),
        ("MISSING_FIELD", "unnamed"),
        ("SELF_LOOP", "eu.a -> eu.a"),
        ("MALFORMED_JSON", ""),
    }


def test_a_dry_run_sends_nothing(door: Door, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.csv").write_text(TABLES)
    code, report = ingest(door, source, "--dry-run")
    assert (code, report["accepted"], report["dry_run"]) == (0, 2, True)
    assert door.http.get("/metadata").json()["items"] == []


def test_a_wrong_token_is_reported(door: Door, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.csv").write_text(TABLES)
    wrong = Door(door.stack, door.tenant, "not-a-token", door.http)
    code, answer = ingest(wrong, source)
    assert (code, [error["code"] for error in answer["errors"]]) == (1, ["NOT_AUTHENTICATED"])
