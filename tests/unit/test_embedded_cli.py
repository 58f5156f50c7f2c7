"""Errors, input and help of the command line."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from lily import __version__
from lily.cli import main
from lily.cli.errors import problems_of, wants_json
from lily.cli.output import Format
from lily.cli.stack.startup_progress import StartupProgress
from lily.cli.stack.up import _until_ready
from lily.embedded.lock import AlreadyRunning
from lily.embedded.state import StackState
from lily.model.durations import BadDuration, parse_duration
from lily.model.errors import Problem, Refused

COMMANDS = (
    "up",
    "down",
    "status",
    "doctor",
    "demo",
    "tenant create",
    "tenant list",
    "token create",
    "token list",
    "token revoke",
    "user disable",
    "user enable",
    "policy test",
    "policy explain",
    "estate",
    "recompute",
    "cost",
    "api",
    "pipeline",
    "worker",
    "jars",
)


class Done(NamedTuple):
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in this process, which is faster than `lily`. Not for commands that start processes."""

    def run(*words: str) -> Done:
        monkeypatch.setattr("sys.argv", ["lily", *words])
        monkeypatch.setenv("COLUMNS", "200")
        with pytest.raises(SystemExit) as ended:
            main()
        assert isinstance(ended.value.code, int)
        return Done(ended.value.code, *capsys.readouterr())

    return run


def lily(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lily", *words], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("30m", 1800), ("1h", 3600), ("7d", 604_800), ("1h30m", 5400)]
)
def test_durations_are_parsed(text: str, seconds: int) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "1", "h", "-1h", "1 h", "1.5h", "1y", "0m", "1h x", "36501d", "9" * 5_000 + "d", "\u0661h"]
)
def test_anything_else_is_rejected_with_an_example(text: str) -> None:
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
def test_json_is_recognised_from_the_words(words: str, *, wanted: bool) -> None:
    assert wants_json(words.split()) is wanted


def test_the_code_of_an_error_is_its_type_unless_it_has_problems() -> None:
    assert problems_of(AlreadyRunning("so")) == [{"code": "ALREADY_RUNNING", "description": "so", "entity": ""}]
    assert problems_of(Refused(Problem("A", "b", "c"))) == [{"code": "A", "description": "b", "entity": "c"}]


def test_status_and_down_report_that_nothing_is_running(run: Run, tmp_path: Path) -> None:
    data_dir = ("--data-dir", str(tmp_path / "none"))
    done = run("status", *data_dir)
    assert done.code == 1
    assert f"`lily up --data-dir {tmp_path / 'none'}`" in done.out
    done = run("status", "--format", "json", *data_dir)
    report = json.loads(done.out)
    assert done.code == 1
    assert {key: report[key] for key in ("parts", "lag", "ready")} == {"parts": [], "lag": {}, "ready": False}
    assert report["url"] is report["grpc"] is report["kafka"] is report["database"] is None
    assert run("down", *data_dir).code == 0
    assert not (tmp_path / "none").exists()


def test_a_token_without_a_stack_is_rejected_without_a_traceback(tmp_path: Path) -> None:
    words = ("token", "create", "--scopes", "admin", "--data-dir", str(tmp_path))
    done = lily(*words)
    assert done.returncode == 1
    assert f"`lily up --detach --data-dir {tmp_path}`" in done.stderr
    assert "Traceback" not in done.stderr
    done = lily(*words, "--format", "json")
    (error,) = json.loads(done.stdout)["errors"]
    assert error["code"] == "NO_DATABASE"
    assert f"`lily up --detach --data-dir {tmp_path}`" in error["description"]


@pytest.mark.parametrize(
    ("command", "port"),
    [("up", "0"), ("up", "-1"), ("up", "65536"), ("up --detach", "99999"), ("demo", "99999"), ("api", "99999")],
)
def test_a_port_that_does_not_exist_is_rejected_with_the_range(
    run: Run, command: str, port: str, tmp_path: Path
) -> None:
    words = (*command.split(), "--port", port, "--data-dir", str(tmp_path / "data"))
    done = run(*words)
    assert done.code == 1
    assert f"--port is {port}; a port is a number from 1 to 65535" in done.err
    assert [error["code"] for error in json.loads(run(*words, "--format", "json").out)["errors"]] == ["BAD_SETTINGS"]
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("LILY_PORT", "99999"),
        ("LILY_PORT", "0"),
        ("LILY_PORT", "x"),
        ("LILY_GRPC_PORT", "-1"),
        ("LILY_METRICS_PORT", "65536"),
    ],
)
def test_a_port_of_the_environment_is_rejected_by_its_variable(
    run: Run, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, tmp_path: Path
) -> None:
    monkeypatch.setenv(variable, value)
    done = run("status", "--data-dir", str(tmp_path))
    assert done.code == 1
    assert f"{variable} is '{value}'" in done.err
    assert "lily.toml" in done.err


def test_a_settings_file_that_is_not_toml_is_named(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "lily.toml").write_text("port = \n")
    monkeypatch.chdir(tmp_path)
    done = run("status")
    assert done.code == 1
    assert "lily.toml is not valid TOML" in done.err


@pytest.mark.parametrize("command", ["up", "up --detach", "down", "status", "doctor", "token list", "estate --ingest"])
def test_a_data_directory_that_is_a_file_is_rejected(run: Run, command: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run(*command.split(), "--data-dir", str(tmp_path / "file"))
    assert done.code == 1
    assert "is a file, not a directory" in done.err


@pytest.mark.parametrize("command", ["up", "up --detach", "demo"])
def test_without_java_nothing_is_started_and_the_remedy_is_printed_once(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    done = run(*command.split(), "--data-dir", str(tmp_path / "data"))
    assert done.code == 1
    assert done.err.count("No Java was found on this machine. Install a JDK or JRE 17") == 1
    assert "Starting" not in done.out + done.err
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("words", [("up",), ("up", "--detach")])
def test_a_data_directory_that_cannot_be_created_is_rejected_with_the_option(words: tuple[str, ...]) -> None:
    done = lily(*words, "--data-dir", "/proc/lily")
    assert done.returncode == 1
    assert "/proc/lily cannot be created" in done.stderr
    assert "--data-dir" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("estate --assets -1", "greater than or equal to 0"),
        ("estate --wait", "--wait only works together with --ingest"),
        ("estate --lineage --ingest", "Use one of the two"),
        ("pipeline --queries x", "Unknown queries: x"),
        ("token create --scopes admin --ttl soon", "'soon' is not a duration"),
        ("statsu", "Did you mean 'status'"),
        ("status --format yaml", "'yaml' is not one of 'text', 'json'"),
        ("--format json status", "put --format after the command"),
    ],
)
def test_wrong_input_is_rejected_with_a_reason(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: str, reason: str, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*words.split())
    assert done.code in (1, 2)
    assert reason in re.sub(r"[\s│]+", " ", done.err)


def test_the_version_is_printed_as_text_and_as_json(run: Run) -> None:
    assert run("--version") == (0, f"lily {__version__}\n", "")
    assert json.loads(run("--version", "--format", "json").out) == {"version": __version__}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_that_describes_each_option(run: Run, command: str) -> None:
    done = run(*command.split(), "--help")
    assert done.code == 0
    assert f"Usage: lily {command}" in done.out
    options = re.findall(r"^│ \*?\s*(--[a-z-]+)(.*?)│$", done.out, re.MULTILINE)
    assert {"--format", "--help"} <= {name for name, _ in options}
    assert "<bool>" not in done.out
    assert "[default: (" not in done.out
    for name, rest in options:
        assert len(re.findall(r"[A-Za-z]{2,}", rest)) > 2, f"{command} {name} has no description"


def test_help_lists_every_command_and_loads_no_engine() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "lily", "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert all(f"│ {command.split()[0]} " in done.stdout for command in COMMANDS)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert loaded.isdisjoint({"pyspark", "fastapi", "pydantic", "psycopg", "confluent_kafka", "psutil"})


@pytest.mark.parametrize(("output", "times"), [(Format.text, 1), (Format.json, 0)])
def test_a_ready_stack_announces_once_that_it_stops(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, output: Format, times: int
) -> None:
    on_change = _until_ready(StartupProgress(to_stderr=True), output)
    state = StackState(data_dir=tmp_path, phase="ready")
    on_change(state)
    assert "stopping" not in capsys.readouterr().out
    state.phase = "stopping"
    on_change(state)
    on_change(state)
    assert capsys.readouterr().out.count("stopping") == times
