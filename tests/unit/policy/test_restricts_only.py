"""What a name is below restricts it in every way of deciding, and grants it nothing."""

from dataclasses import replace

import pytest

from lily.api.policy.checks import parse_checks
from lily.api.policy.outcomes import strictest
from lily.api.policy.settings import AccessSettings
from lily.enforce.questions import Decider, Question
from lily.enforce.ranger import Ruling, Subjects
from lily.enforce.ranger.rights import NO_RIGHTS
from lily.enforce.trino import ObjectNames
from lily.plugins.enforcers import TargetTable
from lily.policy import NO_CONTEXT, Decision, Facts, Plane, Policy, Principal, User
from lily.policy.candidates import UnknownObjects
from lily.reactions.enforcement.decisions import Deciding, Named
from tests.policy_examples import EMAIL, index, policy

ANN, NAME = Principal("ann"), EMAIL.qualified_name
ONLY = replace(EMAIL, restricts_only=True)
OWN = Facts(EMAIL.id, NAME, "dashboard")
READERS = policy("readers")
ABOVE = {"resources": [{"asset": "shop.public"}]}
MASKED = policy("masked", "mask", resources=[{"tag": "PII"}], mask="show-last-4")
DENIED = policy("denied", "deny", **ABOVE)
FILTERED = policy("filtered", "row-filter", row_filter="a = 1", **ABOVE)


def checked(facts: list[Facts], unknown: UnknownObjects, *policies: Policy, plane: Plane = "data") -> Decision:
    """As every way of deciding has it."""
    compiled = index(*policies)
    batch = parse_checks([{"principal": "ann", "action": "READ", "asset_id": NAME, "plane": plane}])
    (decision,) = strictest(compiled, AccessSettings(unknown_objects=unknown), batch, [ANN], {NAME: facts})
    if plane == "metadata":
        return decision
    question = Question("READ", (NAME,), is_column=True)
    decider = Decider(compiled, unknown, ANN, NO_CONTEXT, {NAME: facts})
    deciding = Deciding(compiled, unknown, {NAME: facts}, NO_CONTEXT)
    for other in (decider.decide(question), *decider.decide_all([question]), deciding.decide(ANN, NAME)):
        assert (other.effect, other.mask, other.row_filters) == (decision.effect, decision.mask, decision.row_filters)
    return decision


@pytest.mark.parametrize("own", [[], [OWN]])
@pytest.mark.parametrize(("more", "effect"), [(MASKED, "mask"), (DENIED, "deny"), (FILTERED, "row-filter")])
def test_it_restricts_what_is_allowed(own: list[Facts], more: Policy, effect: str) -> None:
    assert checked([*own, ONLY], "open", READERS).effect == "allow"
    assert checked([*own, ONLY], "open", READERS, more).effect == effect


@pytest.mark.parametrize(("more", "effect"), [(MASKED, "mask"), (DENIED, "deny"), (FILTERED, "row-filter")])
def test_it_restricts_what_the_setting_alone_allows(more: Policy, effect: str) -> None:
    assert checked([ONLY], "open").effect == "allow"
    assert checked([ONLY], "open", more).effect == effect


def test_it_grants_nothing_and_makes_nothing_known() -> None:
    assert checked([ONLY], "closed", READERS).effect == "deny"
    assert (
        checked([OWN, ONLY], "closed", policy("by source", resources=[{"data_source": "warehouse"}])).effect == "deny"
    )
    assert checked([OWN, ONLY], "closed", policy("own", resources=[{"entity_type": "dashboard"}])).effect == "allow"


def test_on_the_metadata_plane_it_denies() -> None:
    assert checked([ONLY], "closed", MASKED, plane="metadata").effect == "allow"
    assert checked([ONLY], "closed", DENIED, plane="metadata").effect == "deny"
    assert checked([OWN, ONLY], "open", DENIED, plane="metadata").effect == "deny"


def test_a_condition_that_is_unknown_restricts() -> None:
    of_hr = {"conditions": {"attributes": {"asset": {"domain": "hr"}}}}
    conditional = policy("hr", "deny", **ABOVE, **of_hr)
    assert checked([ONLY], "open", conditional).effect == "deny"
    of_sales = replace(ONLY, attributes={"domain": "sales"})
    assert checked([OWN, of_sales], "open", READERS, conditional).effect == "allow"


def test_a_disabled_user_stays_denied() -> None:
    compiled = index(READERS, users=[User("ann", disabled=True)])
    assert compiled.restrictions(Principal("ann", disabled=True), "READ", ONLY).effect == "deny"


def test_it_restricts_a_table_and_a_container_in_an_engine() -> None:
    decider = Decider(index(READERS, MASKED), "open", ANN, NO_CONTEXT, {NAME: [ONLY], "other": []})
    assert decider.decide(Question("READ", (NAME,))).effect == "mask"
    assert decider.decide(Question("READ", ("other",), is_column=True, above=((NAME,),))).effect == "mask"
    denying = Decider(index(READERS, DENIED), "open", ANN, NO_CONTEXT, {NAME: [ONLY]})
    assert denying.decide(Question("READ", (NAME,), "container")).effect == "deny"


def test_a_column_that_has_the_name_of_a_table_restricts_it_although_nothing_allows_the_column() -> None:
    tables = policy("tables", resources=[{"entity_type": "table"}])
    decider = Decider(index(tables, MASKED), "open", ANN, NO_CONTEXT, {NAME: [EMAIL]})
    assert decider.decide(Question("READ", (NAME,))).effect == "mask"


def test_in_ranger_it_restricts_whoever_is_allowed() -> None:
    policies = (READERS, DENIED, MASKED, FILTERED)

    def rights(*facts: Facts) -> tuple[int, int, int, int]:
        ruling = Ruling(index(*policies), Subjects(policies, (), ()), ObjectNames(()), {NAME: facts}, NO_CONTEXT)
        return tuple(map(len, ruling.of_names("READ", (NAME,), is_column=True)))  # type: ignore[return-value]

    assert rights(OWN) == (1, 0, 0, 0)
    assert rights(OWN, ONLY) == (1, 1, 1, 1)
    assert rights(ONLY) == tuple(map(len, NO_RIGHTS))


def test_the_columns_of_a_target_that_are_not_listed_have_it_of_their_table() -> None:
    table = Named(TargetTable(("shop",), "table", ()), NAME, (), complete=False)
    deciding = Deciding(index(MASKED), "open", {NAME: [ONLY]}, NO_CONTEXT)
    assert deciding.decide_table(ANN, table).effect == "mask"
    assert Deciding(index(), "open", {NAME: [ONLY]}, NO_CONTEXT).decide_table(ANN, table).effect == "allow"


def test_an_explanation_has_what_decided() -> None:
    explained = index(READERS, MASKED).explain(ANN, "READ", ONLY)
    assert explained.decision.effect == "mask"
    assert {match.policy.id for match in explained.matches if match.decided} == {"masked"}
