"""`lily cost`: the table, the JSON and the exit codes."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from lily.cli import app, main


def cost(*words: str) -> str:
    result = CliRunner().invoke(app, ["cost", *words], env={"COLUMNS": "120"}, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def as_json(*words: str) -> Any:
    return json.loads(cost(*words, "--format", "json"))


def rejection(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[str, str]:
    """Returns standard output and standard error of a command that must end with exit code 1."""
    monkeypatch.setattr("sys.argv", ["lily", "cost", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    printed = capsys.readouterr()
    return printed.out, printed.err


def test_the_json_has_parts_with_their_arithmetic_and_a_cost_that_adds_up() -> None:
    answer = as_json("--assets", "1e9", "--events-per-second", "1e4", "--tenants", "10")
    assert set(answer) == {"demand", "parts", "cost", "warnings", "placeholders", "default_workload_estimates"}
    assert answer["demand"] == {"assets": 1e9, "events": 1e4, "tenants": 10, "reads": 5e4, "utilisation": 0.6}
    named = {part["name"]: part for part in answer["parts"]}
    assert list(named) == ["load", "postgres", "kafka", "hot", "lake_lane", "relay", "lake", "api"]
    for part in answer["parts"]:
        assert set(part) == {"name", "title", "summary", "cost", "lines"}
        assert all(set(line) == {"name", "value", "unit", "formula", "arithmetic"} for line in part["lines"])
    lines = answer["cost"]["lines"]
    assert lines == {name: part["cost"] for name, part in named.items() if part["cost"] is not None}
    assert answer["cost"]["total"] == pytest.approx(sum(lines.values()))
    assert {"currency", "prices", "per_million_assets", "per_tenant", "growth"} < set(answer["cost"])
    assert "not a quote" in answer["cost"]["prices"]
    estimates = answer["default_workload_estimates"]
    assert (estimates["lowest"], estimates["highest"]) == (500, 8000)


def test_the_table_shows_every_part_and_the_total() -> None:
    printed = cost()
    for title in ("Kafka", "Spark, hot lane", "Spark, lake lane", "PostgreSQL", "Lake", "API", "Relay", "Total"):
        assert title in printed
    assert "not a quote" in printed


def test_estimates_of_other_designs_are_shown_only_for_the_workload_they_are_for() -> None:
    assert "500 to 8,000" in cost()
    assert "500 to 8,000" not in cost("--assets", "1e8")


def test_it_does_not_refer_to_a_document_the_reader_does_not_have() -> None:
    assert "brief" not in cost("--explain") + cost("--help")


def test_explain_shows_each_line_with_names_and_with_numbers() -> None:
    printed = cost("--explain")
    assert "postgres.rows = postgres.structural_rows + postgres.tagged_rows" in printed
    assert "= 100,000,000 + 65,700,000 = 165,700,000 rows" in printed


def test_numbers_may_be_written_with_an_exponent_or_with_underscores() -> None:
    assert as_json("--assets", "1e6") == as_json("--assets", "1_000_000")


def test_the_utilisation_changes_the_cost() -> None:
    busy, roomy = (as_json("--utilisation", share, "--events-per-second", "1e6") for share in ("0.9", "0.3"))
    assert busy["cost"]["total"] < roomy["cost"]["total"]


def test_prices_and_figures_are_written_edited_and_used(tmp_path: Path) -> None:
    prices, figures = tmp_path / "prices.toml", tmp_path / "measured.toml"
    printed = cost("--write-prices", str(prices), "--write-measured", str(figures))
    assert f"`lily cost --prices {prices}`" in printed.replace("\n", "")
    text = prices.read_text(encoding="utf-8").replace('currency = "USD"', 'currency = "EUR"')
    prices.write_text(text.replace("block_gib_month = 0.08", "block_gib_month = 0"), encoding="utf-8")
    answer = as_json("--prices", str(prices), "--measured", str(figures))
    assert answer["cost"]["currency"] == "EUR"
    assert answer["cost"]["total"] < as_json()["cost"]["total"]
    another = str(tmp_path / "another.toml")
    assert as_json("--write-prices", another) == {"written": [another]}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--assets", "many"], "not a number"),
        (["--assets", "-5"], "assets is -5"),
        (["--assets", "0"], "above zero"),
        (["--assets", "nan"], "assets is nan"),
        (["--tenants", "0.5"], "whole number"),
        (["--events-per-second", "inf"], "events is inf"),
        (["--reads-per-second", "-1"], "reads is -1"),
        (["--utilisation", "60"], "0.6 for 60 %"),
        (["--prices", "no-such-file.toml"], "cannot be read"),
    ],
)
def test_wrong_input_ends_with_a_remedy_and_exit_code_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], reason: str
) -> None:
    _, error = rejection(monkeypatch, capsys, *words)
    assert reason in error


def test_an_error_is_json_if_json_is_requested(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer, _ = rejection(monkeypatch, capsys, "--assets", "0", "--format", "json")
    assert [error["code"] for error in json.loads(answer)["errors"]] == ["BAD_DEMAND"]


def test_the_plan_in_the_documentation_is_the_one_that_is_printed() -> None:
    result = CliRunner().invoke(app, ["cost"], env={"COLUMNS": "118"}, catch_exceptions=False)
    table = result.stdout.partition("\n\n")[0].splitlines()
    page = (Path(__file__).parents[2] / "docs" / "capacity.md").read_text(encoding="utf-8")
    assert "\n".join(line.rstrip() for line in table) in page
