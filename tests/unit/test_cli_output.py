"""What commands print: hints that work when copied, and tables with a header."""

import json
import shlex
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from lily.cli.hints import DEFAULT_DATA_DIR, command, complete_hints, data_dir_of
from lily.cli.metadata import ingest
from lily.cli.metadata.ingest import _print as print_report
from lily.cli.output import Format, counted, print_error, print_json, print_table, print_text
from lily.cli.stack.up import announce
from lily.connect.run import Report
from lily.embedded.state import StackState
from lily.model.errors import Problem, Terminal
from lily.settings import Settings


def test_the_default_directory_of_hints_is_that_of_the_settings() -> None:
    assert Path(DEFAULT_DATA_DIR) == Settings.model_fields["data_dir"].default


def test_a_command_names_the_data_directory_unless_it_is_the_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command("down", tmp_path / ".lily") == "lily down"
    assert command("down", Path(".lily")) == "lily down"
    assert command("down", tmp_path / "other") == f"lily down --data-dir {tmp_path / 'other'}"
    assert command("down", Path("other")) == f"lily down --data-dir {tmp_path / 'other'}"
    assert command("down --data-dir x", tmp_path / "other") == "lily down --data-dir x"


def test_a_directory_with_a_space_survives_the_shell(tmp_path: Path) -> None:
    assert shlex.split(command("down", tmp_path / "my data"))[-1] == str(tmp_path / "my data")


def test_hints_in_a_message_are_completed_and_other_commands_are_not(tmp_path: Path) -> None:
    message = "See `lily status`, `lily token list` or `lily jars`; lily status, `make setup` and `lily cost` stay."
    option = f"--data-dir {tmp_path}"
    assert complete_hints(message, tmp_path) == (
        f"See `lily status {option}`, `lily token list {option}` or `lily jars`; lily status, `make setup` and "
        "`lily cost` stay."
    )


@pytest.mark.parametrize(
    ("words", "environment", "directory"),
    [
        ("lily status", {}, ".lily"),
        ("lily status", {"LILY_DATA_DIR": "/a"}, "/a"),
        ("lily status --data-dir /b", {"LILY_DATA_DIR": "/a"}, "/b"),
        ("lily status --data-dir=/c", {}, "/c"),
    ],
)
def test_the_data_directory_is_found_before_the_options_are_parsed(
    words: str, environment: dict[str, str], directory: str
) -> None:
    assert data_dir_of(words.split(), environment) == Path(directory)


def test_a_detached_stack_is_stopped_with_down_and_one_in_the_foreground_with_ctrl_c(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = StackState(data_dir=tmp_path, url="http://127.0.0.1:8585", database="postgresql://lily:x@127.0.0.1:1/lily")
    announce(state, Format.text, detached=True)
    printed = capsys.readouterr().out
    assert "Ctrl-C" not in printed
    assert f"`lily down --data-dir {tmp_path}`" in printed
    assert f"`lily status --data-dir {tmp_path}`" in printed
    announce(state, Format.text, detached=False)
    printed = capsys.readouterr().out
    assert "Ctrl-C" in printed
    assert f"`lily down --data-dir {tmp_path}`" in printed


def test_a_table_has_a_header_and_aligned_columns(capsys: pytest.CaptureFixture[str]) -> None:
    noon = datetime(2026, 11, 15, 12, 0, 0, 123, tzinfo=UTC)
    rows = [
        {"id": "a", "scopes": ["admin"], "at": noon, "until": None},
        {
            "id": "long-id",
            "scopes": ["metadata:read", "[b]"],
            "at": noon.astimezone(timezone(timedelta(hours=2))),
            "until": "",
        },
    ]
    print_table(rows, {"id": "id", "scopes": "scopes", "at": "created", "until": "expires"})
    assert capsys.readouterr().out.splitlines() == [
        "ID       SCOPES             CREATED               EXPIRES",
        "a        admin              2026-11-15T12:00:00Z  -",
        "long-id  metadata:read,[b]  2026-11-15T12:00:00Z  -",
    ]


def test_an_empty_table_is_its_header(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([], {"name": "name", "created_at": "created"})
    assert capsys.readouterr().out == "NAME  CREATED\n"


def test_one_thing_is_not_counted_in_the_plural(capsys: pytest.CaptureFixture[str]) -> None:
    assert [counted(number, "edge") for number in (0, 1, 2_000)] == ["0 edges", "1 edge", "2,000 edges"]
    print_report(Report(accepted=1, edges=1), dry_run=False, output=Format.text)
    assert "1 asset and 1 edge accepted" in capsys.readouterr().out


UNSAFE = "a\x1b[2J\x9b31m\u202eb\x07"
SAFE = r"a\u001b[2J\u009b31m\u202eb\u0007"


def test_names_cannot_send_commands_to_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    report = Report(read=1)
    report.reject(Problem("INVALID_VALUE", f"{UNSAFE} is wrong"), asset=f"{UNSAFE}\n✓ 5 assets")
    with pytest.raises(Terminal):
        ingest._print(report, dry_run=False, output=Format.text)
    printed = capsys.readouterr().out
    assert f"{SAFE}\\u000a✓ 5 assets: {SAFE} is wrong" in printed
    print_error(f"{UNSAFE}\nsecond line")
    print_text(f"{UNSAFE}\tand\nmore".replace("[", "\\["))
    print_table([{"name": UNSAFE}], {"name": "name"})
    found = capsys.readouterr()
    assert found.err == f"✗ {SAFE}\nsecond line\n"
    assert found.out.count(SAFE) == 2
    assert not {"\x1b", "\x9b", "\u202e", "\x07"} & set(printed + found.err + found.out)


def test_json_keeps_control_characters_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"name": UNSAFE})
    printed = capsys.readouterr().out
    assert printed == f'{{"name": "{SAFE}"}}\n'
    assert json.loads(printed) == {"name": UNSAFE}
