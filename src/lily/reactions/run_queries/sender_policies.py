"""The policies in force when a query is analyzed, for the caller who sent it."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from psycopg import Connection

from lily.model.run_queries import QuerySender
from lily.policy import (
    Action,
    Context,
    Facts,
    Policy,
    PolicyIndex,
    Principal,
    Role,
    ScraperIndex,
    ScraperPolicy,
    compile_policies,
    fold,
)
from lily.store.postgres.definitions.tags import read_tag_rules
from lily.store.postgres.policies.facts import Wanted
from lily.store.postgres.policies.names_above import facts_with_names_above
from lily.store.postgres.policies.snapshot import read_snapshot, read_users
from lily.store.postgres.policies.stored_objects import parsed, stored_user
from lily.store.postgres.worker_reads import WorkerReads, completed


class SenderPolicies:
    """Decides on the metadata plane, as the API does for a call. The caller's address and purpose are not known any
    more, so a denial that depends on them applies."""

    def __init__(
        self, reads: WorkerReads, sender: QuerySender, principal: Principal, index: PolicyIndex, scrapers: ScraperIndex
    ) -> None:
        self._reads, self._sender, self._principal = reads, sender, principal
        self._index, self._scrapers = index, scrapers
        self._context = Context(now=datetime.now(UTC))

    def permitted(self, action: Action, kinds: Mapping[str, str]) -> set[str]:
        """Those of the qualified names for which the sender may do it. `kinds` has the type of each, for those that are
        not ingested yet."""
        facts = completed(self._facts(kinds))
        return {name for name, one in facts.items() if self._permits(action, one)}

    async def _facts(self, kinds: Mapping[str, str]) -> dict[str, Facts]:
        tenant, index = self._index.tenant, self._index
        rules = await read_tag_rules(self._reads, tenant)
        wanted = Wanted(rules, rules.protective | index.named_tags, bool(index.compared_attributes))
        found = await facts_with_names_above(self._reads, tenant, kinds, wanted)
        return {
            name: facts if facts.entity_type else replace(facts, entity_type=kinds[name])
            for name, facts in found.items()
        }

    def _permits(self, action: Action, facts: Facts) -> bool:
        group = self._sender.scraper_group
        if group and not self._scrapers.may_write(group, facts).allowed:
            return False
        return self._index.decide(self._principal, action, facts, self._context, "metadata").allowed


def policies_of(connection: Connection[Any], tenant: str, sender: QuerySender) -> SenderPolicies:
    """Raises InvalidStoredObject: without one of its policies a tenant could permit too much."""
    return completed(_read(WorkerReads(connection), tenant, sender))


async def _read(reads: WorkerReads, tenant: str, sender: QuerySender) -> SenderPolicies:
    snapshot = await read_snapshot(reads, tenant, -1)
    objects = [parsed(tenant, stored) for stored in snapshot.objects]
    policies, roles = (
        [one for one in objects if isinstance(one, Policy)],
        [one for one in objects if isinstance(one, Role)],
    )
    scrapers = ScraperIndex(one for one in objects if isinstance(one, ScraperPolicy))
    principal = await _principal(reads, tenant, sender)
    return SenderPolicies(reads, sender, principal, compile_policies(tenant, policies, roles), scrapers)


async def _principal(reads: WorkerReads, tenant: str, sender: QuerySender) -> Principal:
    key = fold(sender.user)
    found = await read_users(reads, tenant, [key]) if key else {}
    if key not in found:
        return Principal(sender.user, sender.groups)
    user = stored_user(key, *found[key])
    return Principal(sender.user, (*sender.groups, *user.groups), user.roles, disabled=user.disabled)
