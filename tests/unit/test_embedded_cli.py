"""What the command line says when something is wrong, and how it reads its words."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lily.cli.duration import BadDuration, parse_duration
from lily.cli.errors import asks_for_json, problems_of
from lily.embedded.lock import AlreadyRunning
from lily.model.errors import Problem, Refused


def lily(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lily", *words], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("1h", 3600), ("7d", 604_800), ("1h30m", 5400)]
)
def test_durations_are_read_as_people_write_them(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "1", "h", "-1h", "1 h", "1.5h", "1y", "0m", "1h x"])
def test_anything_else_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(BadDuration, match="1h"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("lily up --format json", True),
        ("lily up --format=json", True),
        ("lily up --format text", False),
        ("lily up json --format", False),
    ],
)
def test_json_is_known_from_the_words(words: str, *, wanted: bool) -> None:
    assert asks_for_json(words.split()) is wanted


def test_an_error_is_told_by_its_type_and_a_refusal_by_its_problems() -> None:
    assert problems_of(AlreadyRunning("so")) == [{"code": "ALREADY_RUNNING", "description": "so", "entity": ""}]
    assert problems_of(Refused(Problem("A", "b", "c"))) == [{"code": "A", "description": "b", "entity": "c"}]


def test_status_and_down_of_nothing_say_so(tmp_path: Path) -> None:
    place = ("--data-dir", str(tmp_path / "none"))
    told = lily("status", *place)
    assert told.returncode == 1
    assert "lily up" in told.stdout
    told = lily("status", "--format", "json", *place)
    assert (told.returncode, json.loads(told.stdout)) == (1, {"parts": [], "lag": {}, "ready": False})
    told = lily("down", *place)
    assert told.returncode == 0
    assert not (tmp_path / "none").exists()


def test_a_token_without_a_stack_is_refused_without_a_traceback(tmp_path: Path) -> None:
    words = ("token", "create", "--scopes", "admin", "--data-dir", str(tmp_path))
    told = lily(*words)
    assert told.returncode == 1
    assert "lily up" in told.stderr
    assert "Traceback" not in told.stderr
    told = lily(*words, "--format", "json")
    assert [error["code"] for error in json.loads(told.stdout)["errors"]] == ["NO_DATABASE"]


def test_help_loads_no_engine() -> None:
    told = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "lily", "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    loaded = {line.rpartition("|")[2].strip() for line in told.stderr.splitlines()}
    assert loaded.isdisjoint({"pyspark", "fastapi", "pydantic", "psycopg", "confluent_kafka", "psutil"})
