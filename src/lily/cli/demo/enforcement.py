"""Steps about enforcement: a PostgreSQL database follows the tags, is repaired, and is given back as it was."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from rich.markup import escape

from lily.cli.demo.mailing import ANALYST, DATABASE, EMAIL, LILY, OFFICER, REFUSED, Login, Mailing
from lily.cli.demo.step import DemoContext, Step, StepFailed, StepResult, expect_equal, require, wait_until
from lily.client import NotFound, Receipt

WAIT = 60  # seconds
TAG = "PII"
TABLE = f"{DATABASE}.public.subscribers"
ACCOUNTS = "crm.public.accounts"
UPSTREAM = f"{ACCOUNTS}.email"
QUERY = "select email from subscribers where id = 1"
OF_VIEW = "select email from public_masked.subscribers where id = 1"
MASKED = "x" * (len(EMAIL) - 4) + EMAIL[-4:]
CONFIG = 'url = "${MAILING_URL}"\n'
INDENT = "\n" + " " * 14  # below the text of a step

ADDED, QUERIED, ENFORCED, REPAIRED, REMOVED = (
    "a database, added to enforced",
    "a query of the database",
    "a tag upstream, sent to enforced",
    "a mask dropped by hand, until it is back",
    "a database, given back as it was",
)


def add_target(demo: DemoContext) -> StepResult:
    mailing = _mailing(demo)
    _clear(demo, mailing)
    mailing.create()
    _describe(demo)
    _, seconds = demo.timed(ADDED, lambda: _add(demo, mailing))
    found = demo.lily.target(DATABASE)
    size = f"{found['tables']} table, {found['columns']} columns"
    return StepResult(
        f"[b]lily enforce add {DATABASE}[/]: the policies hold in a PostgreSQL database ({size})", seconds
    )


def read_in_the_clear(demo: DemoContext) -> StepResult:
    with _mailing(demo).login(ANALYST) as analyst:
        seen, seconds = demo.timed(QUERIED, lambda: analyst.read(QUERY))
    expect_equal("what the analyst reads", seen, EMAIL)
    return StepResult(f"The analyst's query, [i]{QUERY}[/]: {seen}", seconds)


def tag_upstream(demo: DemoContext) -> StepResult:
    """The table is refused, the masking view masked, and the receipt of the write shows that this is confirmed."""
    with _mailing(demo).login(ANALYST) as analyst:
        write = _until(analyst, REFUSED, lambda: demo.lily.add_tag(UPSTREAM, TAG))
        receipt, seconds = demo.timed(ENFORCED, write)
        expect_equal("what the analyst reads in the masking view", analyst.read(OF_VIEW), MASKED)
    failure = f"the receipt of the tag does not show that {DATABASE} confirmed it"
    wait_until(lambda: _confirmed(demo, receipt), failure, WAIT)
    text = f"{TAG} on [b]{UPSTREAM}[/], upstream: the same query is refused, and the masking view shows [b]{MASKED}[/]"
    return StepResult(text, seconds)


def read_privileged(demo: DemoContext) -> StepResult:
    with _mailing(demo).login(OFFICER) as officer:
        seen, seconds = demo.timed(QUERIED, lambda: officer.read(QUERY))
        expect_equal("what the privacy officer reads", (seen, officer.read(OF_VIEW)), (EMAIL, EMAIL))
    return StepResult(f"The privacy officer's query, which a policy allows: {seen}", seconds)


def drop_mask(demo: DemoContext) -> StepResult:
    mailing = _mailing(demo)
    failure = "the masking view did not come back"
    with mailing.login(ANALYST) as analyst:
        mailing.drop_mask()
        _, seconds = demo.timed(REPAIRED, lambda: wait_until(lambda: analyst.read(OF_VIEW) == MASKED, failure, WAIT))
        expect_equal("what the analyst reads", analyst.read(QUERY), REFUSED)
    wait_until(lambda: bool(_drifted(demo)), "the change by hand was not reported", WAIT)
    text = f"Someone drops the masking view: it is back, and reported as drift of [b]{_drifted(demo)[0]}[/]"
    return StepResult(text, seconds)


def untag_upstream(demo: DemoContext) -> StepResult:
    with _mailing(demo).login(ANALYST) as analyst:
        _, seconds = demo.timed(ENFORCED, _until(analyst, EMAIL, lambda: demo.lily.remove_tag(UPSTREAM, TAG)))
    return StepResult(f"{TAG} removed: the analyst's query shows {EMAIL} again", seconds)


def show_status(demo: DemoContext) -> StepResult:
    wait_until(lambda: demo.lily.target(DATABASE)["state"] == "in line", f"{DATABASE} is not in line", WAIT)
    shown, seconds = demo.timed("lily enforce status", lambda: _lily(demo, "status", DATABASE))
    lines = shown.strip().splitlines()
    require(that=lines[0].startswith("in line"), failure=f"lily enforce status shows {lines[0]!r}")
    return StepResult(INDENT.join((f"[b]lily enforce status {DATABASE}[/]", *map(escape, lines))), seconds)


def remove_target(demo: DemoContext) -> StepResult:
    mailing = _mailing(demo)
    _, seconds = demo.timed(REMOVED, lambda: _lily(demo, "remove", DATABASE))
    with mailing.login(ANALYST) as analyst:
        expect_equal("what the analyst reads without Lily", analyst.read(QUERY), EMAIL)
    expect_equal("the number of schemas that Lily has left", mailing.schemas_of_lily(), 0)
    _clear(demo, mailing)
    return StepResult(f"[b]lily enforce remove {DATABASE}[/]: the database is as it was before Lily", seconds)


ENFORCEMENT = (
    Step("add a database as a target", add_target),
    Step("read in the clear", read_in_the_clear),
    Step("enforce a tag in the database", tag_upstream),
    Step("read with privileges", read_privileged),
    Step("repair a change by hand", drop_mask),
    Step("enforce the removal of the tag", untag_upstream),
    Step("show the target's status", show_status),
    Step("give the database back", remove_target),
)


def _mailing(demo: DemoContext) -> Mailing:
    return Mailing(demo.stack.database, demo.stack.token)


def _policies() -> list[dict[str, Any]]:
    """Both read the table, and what is tagged is masked for the analyst."""
    shared: dict[str, Any] = {"actions": ["READ"], "applies_to": ["data"]}
    of_table = {"resources": [{"asset": TABLE}], "effect": "allow", **shared}
    of_tag = {"resources": [{"tag": TAG}], "effect": "mask", "mask": "show-last-4", **shared}
    return [
        {"id": f"{DATABASE}-read", "name": "The mailing list", "subjects": [{"user": ANALYST}], **of_table},
        {"id": f"{DATABASE}-mask", "name": "Personal data is masked", "subjects": [{"user": ANALYST}], **of_tag},
        {"id": f"{DATABASE}-officer", "name": "Privacy officers read", "subjects": [{"user": OFFICER}], **of_table},
    ]


def _describe(demo: DemoContext) -> None:
    """The catalogue knows the table, where its column comes from, and who may read it."""
    lily = demo.lily
    for table in (ACCOUNTS, TABLE):
        lily.ingest("table", {"name": table.rpartition(".")[2], "qualified_name": table}, wait=WAIT)
        column = {"name": "email", "qualified_name": f"{table}.email", "parent": table}
        lily.ingest("column", column, wait=WAIT)
    if TAG in lily.get(UPSTREAM).tags.effective:
        lily.remove_tag(UPSTREAM, TAG, wait=WAIT)  # left by an interrupted run
    edge = {"from": UPSTREAM, "to": f"{TABLE}.email", "relationship_type": "derived-from"}
    require(that=lily.relate([edge], wait=WAIT).readable, failure=f"the edge to {TABLE} could not be read")
    for policy in _policies():
        lily.create_policy(policy)


def _add(demo: DemoContext, mailing: Mailing) -> None:
    with tempfile.TemporaryDirectory() as directory:
        config = Path(directory, "mailing.toml")
        config.write_text(CONFIG)
        url = {"MAILING_URL": mailing.url_of(LILY)}
        _lily(demo, "add", DATABASE, "--type", "postgres", "--config", str(config), **url)
    wait_until(lambda: demo.lily.target(DATABASE)["state"] == "in line", f"{DATABASE} is not in line", WAIT)


def _until(login: Login, seen: str, write: Callable[[], Receipt]) -> Callable[[], Receipt]:
    """The write, and that the login's query shows its effect."""

    def act() -> Receipt:
        receipt = write()
        wait_until(lambda: login.read(QUERY) == seen, f"the analyst's query is not {seen}", WAIT)
        return receipt

    return act


def _confirmed(demo: DemoContext, receipt: Receipt) -> bool:
    targets = demo.lily.travel(receipt.receipt).enforcements
    return any(one["target"] == DATABASE and one["state"] == "confirmed" for one in targets)


def _drifted(demo: DemoContext) -> list[str]:
    return [str(one["table"]) for one in demo.lily.target(DATABASE)["drifted"]]


def _clear(demo: DemoContext, mailing: Mailing) -> None:
    """Removes the database and everything about it but its assets, also what an interrupted run has left."""
    if mailing.exists():
        with suppress(NotFound):
            demo.lily.target(DATABASE)
            _lily(demo, "remove", DATABASE)
    for policy in _policies():
        with suppress(NotFound):
            demo.lily.delete_policy(policy["id"])
    mailing.drop()


def _lily(demo: DemoContext, *words: str, **environment: str) -> str:
    """What `lily enforce` prints. Raises StepFailed with its error."""
    access = {"LILY_URL": demo.stack.url, "LILY_TOKEN": demo.stack.token}
    trust = {"LILY_CA": demo.stack.certificate} if demo.stack.certificate else {}
    command = [sys.executable, "-m", "lily", "enforce", *words]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=2 * WAIT,
        check=False,
        env={**os.environ, **access, **trust, **environment},
    )
    if done.returncode != 0:
        raise StepFailed(f"lily enforce {' '.join(words)}: {done.stderr.strip()}")
    return done.stdout
