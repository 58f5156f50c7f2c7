"""What the policies about reading data name: who, and which assets."""

from collections.abc import Iterable, Iterator

from lily.policy.names import EVERY, EVERYONE
from lily.policy.policies import Policy, Subject


def reading_data(policies: Iterable[Policy]) -> Iterator[Policy]:
    """Those that decide what engines show."""
    return (policy for policy in policies if "READ" in policy.actions and "data" in policy.applies_to)


def named_subjects(policies: Iterable[Policy]) -> dict[str, Subject]:
    """Every user, group and role that a policy names, by key. `*` names nobody."""
    return {one.key: one for policy in policies for one in policy.subjects if one.key != EVERYONE}


def named_assets(policies: Iterable[Policy]) -> set[str]:
    """Ids and qualified names of assets, as stated. `*` names none."""
    resources = (resource for policy in policies for resource in policy.resources)
    return {resource.value for resource in resources if resource.kind == "asset"} - {EVERY}
