"""Random policies: what Trino is answered is what the policies decide, as one loop over them does."""

from typing import Any

from hypothesis import given

from lily.enforce.questions import Decider, references
from lily.enforce.trino import Exchange, ObjectNames, allow, batch, batch_column_masks, parse_request, row_filters
from lily.policy import Context, Facts, Principal, compile_policies, parse_policy
from tests import trino_requests as opa
from tests.policy_oracle import World, verdict
from tests.policy_strategies import LINE, TENANT, contexts, principals, tables, worlds

TABLE = LINE[2].lower()
COLUMNS = ("id", "email", "note")
CATALOGUES = tables(TABLE, COLUMNS)


def answer(
    exchange: Exchange, world: World, principal: Principal, context: Context, catalogue: dict[str, Facts]
) -> Any:
    policies = [parse_policy(body, tenant=TENANT, policy_id=key) for key, body in world.policies.items()]
    index = compile_policies(TENANT, policies, world.roles, world.users)
    known = {name: [catalogue[name]] if name in catalogue else [] for name in references(exchange.questions)}
    decider = Decider(index, "closed", principal, context, known)
    return exchange.answer(decider.decide_all(exchange.questions))


@given(worlds(), principals(), contexts(), CATALOGUES)
def test_trino_is_answered_what_the_policies_decide(
    world: World, principal: Principal, context: Context, catalogue: dict[str, Facts]
) -> None:
    names = ObjectNames(())
    verdicts = {name: verdict(world, principal, "READ", facts, context) for name, facts in catalogue.items()}
    of_table, of_columns = verdicts[TABLE], [verdicts[f"{TABLE}.{column}"] for column in COLUMNS]
    seen = [one.effect != "deny" and of_table.effect != "deny" for one in of_columns]

    def ask(exchange: Exchange) -> Any:
        return answer(exchange, world, principal, context, catalogue)

    assert ask(allow(parse_request(opa.select(TABLE, COLUMNS)), names)) == all(seen)
    filtered = opa.request("FilterColumns", filterResources=[opa.table(TABLE, COLUMNS)])
    assert ask(batch(parse_request(filtered), names)) == [place for place, one in enumerate(seen) if one]
    rows = ask(row_filters(parse_request(opa.request("GetRowFilters", resource=opa.table(TABLE))), names))
    assert len(rows) == (1 if of_table.effect == "deny" else len(of_table.row_filters))
    masked = ask(batch_column_masks(parse_request(opa.masks(TABLE, dict.fromkeys(COLUMNS, "varchar"))), names))
    hidden = [
        place
        for place, one in enumerate(of_columns)
        if one.effect in {"deny", "mask"} or one.row_filters - of_table.row_filters
    ]
    assert [one["index"] for one in masked] == hidden
