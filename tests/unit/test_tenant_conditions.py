"""Every table of a statement is limited to a tenant. The worker's role sees all tenants: no row security limits it."""

import re
from collections import Counter
from importlib import resources
from importlib.resources.abc import Traversable

import pytest

POSTGRES = resources.files("lily.store.postgres")
SUBJECTS = (
    "access",
    "at_risk",
    "audit",
    "catalogue",
    "dead_letters",
    "definitions",
    "deliveries",
    "enforcement",
    "incidents",
    "keys",
    "notifications",
    "policies",
    "progress",
    "protection",
    "quality",
    "refreshes",
    "retention",
    "run_queries",
    "runs",
    "schemas",
    "subscriptions",
    "table_changes",
    "usage",
    "webhook_mappings",
)
# Housekeeping and the refresher serve all tenants at once: by statement, the tables in which they do. What else such a
# statement reads is of the same tenant.
OF_ALL_TENANTS = {
    "access/delete_expired_tickets": ["tickets"],
    "access/revoke_token": ["tokens"],
    "catalogue/awaiting_lake": ["assets", "assets", "a"],
    "access/rotate_token": ["tokens", "t"],  # the id of a token is unique over all tenants
    "catalogue/clear_awaiting_lake": ["assets"],
    "catalogue/end_of_walk": ["{assets}"],  # those of catalogue/walk, which is limited
    "catalogue/reconcile": ["t"],  # it names the tenant of its one row
    "enforcement/runs/delete_old": ["enforcement_runs", "enforcement_receipts"],
    "incidents/history/delete_old": ["h"],
    "notifications/delete_old": ["n"],
    "policies/decisions/delete_old": ["policy_decisions"],
    "policies/facts/delete_old_changes": ["fact_changes", "f"],
    "policies/history/delete_old": ["h", "v"],
    "quality/due": ["quality_policies"],
    "refreshes/ending_late": ["r"],
    "refreshes/forget_runs": ["refresh_runs"],
    "refreshes/request_due": ["s"],
    "refreshes/sync_schedules": ["assets", "assets", "s"],
    "retention/changes": ["c", "c"],
    "retention/dead_letters": ["d", "d", "d"],  # by its id
    "retention/decisions": ["d", "d"],
    "retention/edge_changes": ["c", "c"],
    "retention/incidents": ["i"],
    "retention/propagated": ["p", "p"],
    "retention/propagations": ["p", "o"],
    "usage/delete_old": ["usage_days", "usage_event_ids", "quality_findings"],
}
FUNCTIONS = ("88_hierarchy", "90_spread_risk", "92_risks_of")
_KEYWORDS = "as|set|where|on|using|join|left|cross|inner|full|order|group|limit|offset|returning|union|select|for|and"
_REFERENCE = re.compile(
    r"\b(?:from|join|update|using|merge into)\s+(?P<table>\w+|{table}|{assets})"
    rf"(?:\s+(?:as\s+)?(?!(?:{_KEYWORDS})\b)(?P<alias>[a-z_]\w*))?"
)
_PLAIN = re.compile(r"(?<![.\w])tenant_id\s*(?:=|,\s*\S+\)\s*>)")  # of tables without an alias
_CREATED = re.compile(r"create table (\w+) \((?:(?!\n\);).)*?\btenant_id\b", re.DOTALL)


def files(folder: Traversable) -> list[Traversable]:
    return sorted((one for one in folder.iterdir() if one.name.endswith(".sql")), key=lambda one: one.name)


def statements(folder: Traversable, name: str) -> dict[str, str]:
    """The statements in the folder and in those below it, by the name that `query` takes."""
    found = {f"{name}/{one.name.removesuffix('.sql')}": one.read_text() for one in files(folder)}
    for below in folder.iterdir():
        found |= statements(below, f"{name}/{below.name}") if below.is_dir() else {}
    return found


TABLES = {"{table}", "{assets}"} | {
    name for one in files(POSTGRES / "migrations") for name in _CREATED.findall(one.read_text())
}
STATEMENTS = {
    name: text for subject in SUBJECTS for name, text in statements(POSTGRES / subject / "sql", subject).items()
}
STATEMENTS |= {name: (POSTGRES / "migrations" / "functions" / f"{name}.sql").read_text() for name in FUNCTIONS}


def unlimited(statement: str) -> list[str]:
    """The references to tables, by alias, that have no condition on the tenant. A statement may be a part of one, so it
    is not parsed: conditions and references are counted."""
    text = re.sub(r"--.*", "", statement)
    references = (found for found in _REFERENCE.finditer(text) if found["table"] in TABLES)
    named = Counter(found["alias"] or found["table"] for found in references)
    missing = {name: times - _conditions(text, name) for name, times in named.items()}
    plain = [name for name in missing if name in TABLES and missing[name] > 0]
    are_plain_limited = sum(missing[name] for name in plain) <= len(_PLAIN.findall(text))
    found = [name for name in missing if missing[name] > 0 and not (name in plain and are_plain_limited)]
    return [name for name in found for _ in range(missing[name])]


def _conditions(text: str, name: str) -> int:
    return len(re.findall(rf"\b{name}\.tenant_id\s*=", text))


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_every_table_of_a_statement_is_limited_to_a_tenant(name: str) -> None:
    assert unlimited(STATEMENTS[name]) == OF_ALL_TENANTS.get(name, [])


@pytest.mark.parametrize("name", sorted(STATEMENTS.keys() - OF_ALL_TENANTS.keys()))
def test_a_condition_that_is_left_out_is_noticed(name: str) -> None:
    """Each condition of each statement, one by one."""
    for found in re.finditer(r"(?:\b\w+\.)?\btenant_id = (?:%\(tenant\)s|p_tenant|\w+\.tenant_id)", STATEMENTS[name]):
        left_out = STATEMENTS[name][: found.start()] + "true" + STATEMENTS[name][found.end() :]
        assert unlimited(left_out), found
