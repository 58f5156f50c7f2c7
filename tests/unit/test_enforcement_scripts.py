"""Scripts that a person runs: what is in them, and what earlier ones leave to be taken back."""

import pytest

from lily.plugins import Decision, Finding, Plan, Step
from lily.reactions.enforcement import scripts
from lily.reactions.enforcement.scripts import NotByHand, ScriptTooLong, for_script, lost, merged, parsed, script

A, B = ("d", "s", "a"), ("d", "s", "b")


def decision(table: tuple[str, ...], column: str = "", effect: str = "mask") -> Decision:
    return Decision(".".join(table), table, ("r",), effect, column)  # type: ignore[arg-type]


def taken_back(decisions: list[Decision]) -> set[tuple[tuple[str, ...], str]]:
    return {(one.table, one.column) for one in decisions if one.effect == "withdrawn"}


def test_a_column_that_an_earlier_script_restricted_is_released() -> None:
    now = [decision(A), decision(A, "kept")]
    found = for_script(now, {A: {"kept", "gone"}}, [], "apply")
    assert found[:2] == now
    assert taken_back(found) == {(A, "gone")}


def test_a_table_that_is_no_longer_enforced_stays_closed_until_all_is_taken_back() -> None:
    """Who may delete an asset from the catalogue must not be able to open the table by that."""
    written: dict[tuple[str, ...], set[str]] = {A: {"y"}, B: {"x"}}
    assert taken_back(for_script([decision(A, "y")], written, [B], "apply")) == set()
    assert lost(written, [decision(A, "y")]) == {B: {"x"}}
    assert taken_back(for_script([], written, [B], "remove")) == {(A, ""), (A, "y"), (B, ""), (B, "x")}


def test_a_removal_takes_back_what_this_script_and_earlier_ones_restrict() -> None:
    found = for_script([decision(A, "now")], {A: {"before"}, B: set()}, [], "remove")
    assert taken_back(found) == {(A, ""), (A, "now"), (A, "before"), (B, "")}
    assert len(found) == 4


def test_what_scripts_restrict_is_stored_and_read_back() -> None:
    stored = merged({A: {"x"}}, [decision(A, "y"), decision(B)])
    assert stored == [[list(A), ["x", "y"]], [list(B), []]]
    assert parsed(stored) == {A: {"x", "y"}, B: set()}
    assert parsed(None) == {}


def test_nothing_in_a_comment_begins_a_statement() -> None:
    plan = Plan((Step(A, "SELECT 1"),), (Finding("x\nDROP TABLE a;", "y\r\u2028DROP TABLE b;"),), by_hand=True)
    made = script("name\n; DROP TABLE c;", plan, "apply")
    statements = [line for line in made.text.splitlines() if line and not line.startswith("-- ")]
    assert statements == ["SELECT 1;"]


def test_the_digest_is_that_of_the_statements_alone() -> None:
    plan = Plan((Step(A, "SELECT 1"),), (), by_hand=True)
    noted = plan._replace(findings=(Finding("x", "y"),))
    assert script("n", plan, "apply").digest == script("m", noted, "apply").digest
    assert script("n", plan._replace(steps=(Step(A, "SELECT 2"),)), "apply").digest != script("n", plan, "apply").digest


def test_a_target_that_lily_changes_itself_has_none() -> None:
    with pytest.raises(NotByHand, match="itself"):
        script("n", Plan(), "apply")


def test_a_script_that_is_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripts, "MAX_LENGTH", 5)
    with pytest.raises(ScriptTooLong, match="Divide"):
        script("n", Plan((Step(A, "SELECT 1"),), (), by_hand=True), "apply")
