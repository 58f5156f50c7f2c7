"""`lily policy test`: policies as code, run offline."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from typer.testing import CliRunner

from lily.cli.access.policy_tests import BadPolicyFile, read_policy_file
from lily.cli.commands import app
from lily.model.errors import LilyError

CONTENT = """
policies:
  - {id: readers, name: Readers, subjects: [{role: reader}], resources: [{asset: shop}], actions: [READ], effect: allow}
  - {name: Masked, subjects: [{user: "*"}], resources: [{tag: pii}], actions: [READ], effect: mask, mask: show-last-4}
roles:
  - {name: analyst, inherits: [Reader]}
users:
  - {name: ann, roles: [Analyst]}
assets:
  - {qualified_name: shop, entity_type: schema}
  - {qualified_name: shop.orders, parent: shop}
  - {qualified_name: shop.people, parent: shop, tags: [PII]}
  - {qualified_name: shop.people.email, entity_type: column, parent: SHOP.people}
tests:
  - {principal: Ann, action: READ, asset: shop.orders, expect: allow}
  - {principal: ann, asset: shop.people.email, expect: {effect: mask, mask: show-last-4, policy_id: Masked}}
  - {principal: {roles: [reader]}, action: WRITE, asset: shop.orders, expect: deny}
  - {principal: ann, asset: shop.unknown, expect: deny}
"""


def written(directory: Path, content: str) -> Path:
    path = directory / "policies.yaml"
    path.write_text(content)
    return path


def test_expected_decisions_pass(tmp_path: Path) -> None:
    assert [outcome.differences for outcome in read_policy_file(written(tmp_path, CONTENT)).run()] == [{}] * 4
    as_json = written(tmp_path, json.dumps(yaml.safe_load(CONTENT)))
    assert [outcome.differences for outcome in read_policy_file(as_json).run()] == [{}] * 4
    done = CliRunner().invoke(app, ["policy", "test", str(as_json)])
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, "4 passed, 0 failed")


def test_a_difference_fails_with_both_sides(tmp_path: Path) -> None:
    path = written(tmp_path, CONTENT.replace("expect: allow", "expect: {effect: deny, policy_id: other}"))
    done = CliRunner().invoke(app, ["policy", "test", str(path)])
    assert done.exit_code == 1
    assert "effect: - deny  + allow" in done.output
    assert "policy_id: - other  + readers" in done.output
    assert "3 passed, 1 failed" in done.output
    as_json = CliRunner().invoke(app, ["policy", "test", str(path), "--format", "json"])
    failed = json.loads(as_json.output)["failed"]
    assert failed[0]["differences"]["effect"] == {"expected": "deny", "found": "allow"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("policies:", "polices:"),
        ("effect: allow}", "effect: alow}"),
        ("inherits: [Reader]", "inherits: [Analyst]"),
        ("parent: shop}", "parent: nowhere}"),
        ("principal: Ann,", "principle: Ann,"),
        ("expect: deny}", "expect: 1}"),
        ("{policy_id", "{{"),
        (CONTENT, "[]"),
        (CONTENT, "policies: {"),
        (CONTENT, "policies: []"),
        (CONTENT, "tests: 5"),
    ],
)
def test_a_file_that_is_not_one_is_refused(tmp_path: Path, old: str, new: str) -> None:
    content = CONTENT.replace(old, new)
    if content == CONTENT:
        content = f"{CONTENT}\nmore: 1"
    with pytest.raises(LilyError):
        read_policy_file(written(tmp_path, content))


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    missing: Any = tmp_path / "none.yaml"
    with pytest.raises(BadPolicyFile, match="cannot be read"):
        read_policy_file(missing)


def test_problems_name_the_entry_that_has_them(tmp_path: Path) -> None:
    content = CONTENT.replace("effect: allow}", "effect: alow}").replace(
        "mask: show-last-4}\nroles", "mask: hash}\nroles"
    )
    with pytest.raises(LilyError) as caught:
        read_policy_file(written(tmp_path, content))
    assert "policies[0] (readers): " in str(caught.value)
    assert "policies[1] (Masked): unknown mask 'hash'" in str(caught.value)


def test_an_effect_that_does_not_exist_is_refused_and_not_compared(tmp_path: Path) -> None:
    with pytest.raises(LilyError, match=r"tests\[0\]\.expect .*`?allow`?"):
        read_policy_file(written(tmp_path, CONTENT.replace("expect: allow", "expect: alow")))


def test_a_row_filter_is_expected_as_its_policy_states_it(tmp_path: Path) -> None:
    filtered = "{name: EU, subjects: [{user: '*'}], resources: [{asset: shop}], actions: [READ], effect: row-filter,"
    content = CONTENT.replace("roles:", f"  - {filtered} row_filter: region='EU'}}\nroles:", 1)
    stated = content.replace("expect: allow", "expect: {effect: row-filter, row_filter: region='EU'}")
    assert read_policy_file(written(tmp_path, stated)).run()[0].differences == {}
    other = content.replace("expect: allow", "expect: {effect: row-filter, row_filter: region='US'}")
    assert list(read_policy_file(written(tmp_path, other)).run()[0].differences) == ["row_filter"]


def test_an_asset_that_the_file_does_not_have_is_pointed_out_although_the_test_passes(tmp_path: Path) -> None:
    path = written(tmp_path, CONTENT)
    shown = CliRunner().invoke(app, ["policy", "test", str(path)]).output.splitlines()
    assert ["do not have it" in line for line in shown] == [False, False, False, True, False]
    as_json = CliRunner().invoke(app, ["policy", "test", str(path), "--format", "json"])
    assert json.loads(as_json.output)["unknown_assets"] == ["ann READ shop.unknown"]
