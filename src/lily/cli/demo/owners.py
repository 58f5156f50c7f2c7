"""The end of the third chapter: a rule lets an owner travel where tags did, and what it set goes with it."""

import time
from collections.abc import Callable

from lily.cli.demo.flow import DASHBOARD, EMAIL
from lily.cli.demo.lineage import WAIT
from lily.cli.demo.scene import Scene, Step, Told, expect_equal, insist

RULE, TEAM = "owners", "crm-team"
OWNER = "an owner along the lineage, sent to shown"


def travel_by_rule(scene: Scene) -> Told:
    lily = scene.lily
    if RULE in {rule.name for rule in lily.rules()}:
        lily.undefine_rule(RULE, wait=WAIT)  # an earlier run was broken off
    lily.define_rule(RULE, "owner", "set-if-empty", wait=WAIT)
    _, seconds = scene.timed(OWNER, lambda: _own(scene, TEAM))
    (told,) = lily.attributes(DASHBOARD)
    expect_equal("the origin of the owner", lily.get(told.origin).attributes["qualified_name"], EMAIL)
    lily.undefine_rule(RULE, wait=WAIT)
    _until(lambda: lily.get(DASHBOARD).attributes["owner"] is None, f"{DASHBOARD} kept the owner without the rule")
    lily.update(EMAIL, {"owner": None}, wait=WAIT)
    sentence = (
        f"A rule lets owners travel: [b]{DASHBOARD}[/], {told.depth} edges away, is {TEAM}'s, until the rule goes"
    )
    return Told(sentence, seconds)


OWNERS = (Step("let an owner travel", travel_by_rule),)


def _own(scene: Scene, owner: str) -> None:
    scene.lily.update(EMAIL, {"owner": owner}, wait=WAIT)
    missing = f"{DASHBOARD} did not get the owner of {EMAIL}"
    _until(lambda: scene.lily.get(DASHBOARD).attributes["owner"] == owner, missing)


def _until(holds: Callable[[], bool], otherwise: str) -> None:
    """What a rule states takes the way of every statement, so it is there a moment later."""
    deadline = time.monotonic() + WAIT
    while not holds():
        insist(that=time.monotonic() < deadline, otherwise=f"{otherwise} within {WAIT} seconds")
        time.sleep(0.02)
