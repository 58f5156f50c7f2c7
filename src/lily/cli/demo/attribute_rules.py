"""A step about rules: a rule propagates an owner along the lineage, and removing the rule removes the owner."""

from lily.cli.demo.contact_lineage import DASHBOARD, EMAIL
from lily.cli.demo.propagation import WAIT
from lily.cli.demo.step import DemoContext, Step, StepResult, expect_equal, wait_until

RULE, TEAM = "owners", "crm-team"
OWNER = "an owner along the lineage, sent to readable"


def propagate_owner(demo: DemoContext) -> StepResult:
    lily = demo.lily
    if RULE in {rule.name for rule in lily.rules()}:
        lily.undefine_rule(RULE, wait=WAIT)  # left by an interrupted run
    lily.define_rule(RULE, "owner", "set-if-empty", wait=WAIT)
    _, seconds = demo.timed(OWNER, lambda: _set_owner(demo, TEAM))
    (derived,) = lily.attributes(DASHBOARD)
    expect_equal("the origin of the owner", lily.get(derived.origin).attributes["qualified_name"], EMAIL)
    lily.undefine_rule(RULE, wait=WAIT)
    failure = f"{DASHBOARD} did not lose the owner with the rule"
    wait_until(lambda: lily.get(DASHBOARD).attributes["owner"] is None, failure, WAIT)
    lily.update(EMAIL, {"owner": None}, wait=WAIT)
    text = f"A rule propagates owners: {TEAM} owns [b]{DASHBOARD}[/], {derived.depth} edges away, until the rule goes"
    return StepResult(text, seconds)


ATTRIBUTE_RULES = (Step("propagate an owner", propagate_owner),)


def _set_owner(demo: DemoContext, owner: str) -> None:
    demo.lily.update(EMAIL, {"owner": owner}, wait=WAIT)
    # A derived attribute goes through the log like any other write, so it is readable a moment later.
    failure = f"{DASHBOARD} did not get the owner of {EMAIL}"
    wait_until(lambda: demo.lily.get(DASHBOARD).attributes["owner"] == owner, failure, WAIT)
