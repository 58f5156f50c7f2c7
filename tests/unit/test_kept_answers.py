"""Responses that are kept: how many, and what they rest on."""

from typing import Any, cast
from weakref import ref

import pytest

from lily.api.enforcement.answers import Answer, AnswerCache
from lily.api.policy.compiled import TenantPolicies
from lily.api.policy.fact_cache import Known
from lily.policy import Facts, Principal, compile_policies, parse_policy


class Compiled:
    """Stands for the policies of a version."""


POLICIES, LATER = cast("TenantPolicies", Compiled()), cast("TenantPolicies", Compiled())
ANN = Principal("ann", ["staff"])
FOUND = {"shop.people": [Facts("1", "shop.people")], "shop.people.email": list[Facts]()}
AGAIN = FOUND | {"shop.people": list(FOUND["shop.people"])}  # read again, unchanged
OTHER = FOUND | {"shop.people": [Facts("1", "shop.people")]}  # read again, changed
MORE = FOUND | {"shop.people": [*FOUND["shop.people"], Facts("2", "SHOP.people")]}
GONE = {"shop.people": FOUND["shop.people"]}


def answer(body: bytes = b"{}") -> Answer:
    return Answer(body, ref(POLICIES), "ann", ("staff",), ANN.key, 1, FOUND, {"allow": 1})


def key(number: int) -> tuple[str, object, bytes]:
    return ("tenant", None, b"%d" % number)


def test_the_answer_that_was_not_used_for_longest_goes_first() -> None:
    kept = AnswerCache(most=3 * answer().size)
    for number in range(3):
        kept.put(key(number), answer())
    assert kept.get(key(0)) is not None
    kept.put(key(3), answer())
    assert [kept.get(key(number)) is not None for number in range(4)] == [True, False, True, True]


def test_it_never_keeps_more_bytes_than_it_may() -> None:
    kept = AnswerCache(most=10_000)
    for number in range(100):
        kept.put(key(number % 7), answer(b"x" * (number * 137 % 4_000)))
        assert kept.size <= 10_000
    kept.put(key(0), answer(b"x" * 20_000))
    assert kept.get(key(0)) is None
    assert kept.size <= 10_000


@pytest.mark.parametrize(
    ("policies", "principal", "known", "expected"),
    [
        (POLICIES, ANN, Known(FOUND, 1), True),
        (POLICIES, Principal("ANN", ["Staff"]), Known(FOUND, 1), True),
        (LATER, ANN, Known(FOUND, 1), False),
        (POLICIES, Principal("ann", ["staff"], disabled=True), Known(FOUND, 1), False),
        (POLICIES, Principal("ann", ["staff", "night"]), Known(FOUND, 1), False),
        (POLICIES, Principal("ann", ["staff"], ["clerk"]), Known(FOUND, 1), False),
        (POLICIES, ANN, Known(FOUND | {"shop.orders": []}, 2), True),
        (POLICIES, ANN, Known(AGAIN, 2), True),
        (POLICIES, ANN, Known(OTHER, 2), False),
        (POLICIES, ANN, Known(MORE, 2), False),
        (POLICIES, ANN, Known(GONE, 2), False),
        (POLICIES, ANN, Known({}, 2), False),
    ],
)
def test_it_rests_on_policies_principal_and_facts(
    policies: TenantPolicies, principal: Principal, known: Known, *, expected: bool
) -> None:
    made = answer()
    assert (made.is_by(policies) and made.rests_on(principal, known)) is expected


def test_it_does_not_keep_policies_that_are_no_longer_in_force() -> None:
    old = cast("TenantPolicies", Compiled())
    made = Answer(b"{}", ref(old), "ann", (), ANN.key, 1, {}, {})
    assert made.is_by(old)
    del old
    assert not made.is_by(POLICIES)
    assert made.policies() is None


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        (None, False),
        ({"networks": ["10.0.0.0/8"], "purpose": "audit"}, False),
        ({"time": {"from": "08:00", "to": "18:00"}}, True),
        ({"time": {"not_after": "2030-01-01T00:00:00Z"}}, True),
        ({"weekdays": ["mon"]}, True),
    ],
)
def test_which_policies_depend_on_time(conditions: Any, *, expected: bool) -> None:
    stated = {"subjects": [{"user": "ann"}], "resources": [{"asset": "*"}], "actions": ["READ"], "effect": "allow"}
    given = {"name": "p", **stated, **({"conditions": conditions} if conditions else {})}
    index = compile_policies("t", [parse_policy(given, tenant="t", policy_id="p")])
    assert index.table(ANN, "READ", "data").depends_on_time is expected
    assert index.table(ANN, "WRITE", "data").depends_on_time is False
