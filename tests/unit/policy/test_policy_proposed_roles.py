"""Roles that a dry run proposes."""

from collections.abc import Iterable

import pytest

from lily.api.http.errors import Declined
from lily.api.policy import dry_run
from lily.api.policy.administration import refuse_cycle
from lily.api.policy.compiled import compiled
from lily.api.policy.dry_run import Proposal, changed_objects
from lily.policy import Role
from lily.store.postgres.policies.snapshot import Snapshot, Version


def test_proposed_roles_are_checked_for_a_circle_once_however_many_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check reads every role of the tenant, so one for each proposed role would keep the process busy for minutes."""
    checked: list[int] = []

    def counted(roles: Iterable[Role]) -> None:
        given = list(roles)
        checked.append(len(given))
        refuse_cycle(given)

    monkeypatch.setattr(dry_run, "refuse_cycle", counted)
    policies = compiled("default", Snapshot(Version(1, 1, {}), []), None)
    chain = [{"name": f"r{number}", "inherits": [f"r{number + 1}"]} for number in range(20)]
    assert len(changed_objects("default", policies, Proposal(roles=chain))) == 20
    assert checked == [20]
    with pytest.raises(Declined, match="circle"):
        changed_objects("default", policies, Proposal(roles=[*chain, {"name": "r20", "inherits": ["r0"]}]))
