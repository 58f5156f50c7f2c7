"""Statements about an incident merge to the same incident, in any order and however often they come."""

from functools import reduce
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from lily.incidents import SEVERITIES, STATES, Incident, IncidentStatement, merge, stated, with_pass
from lily.incidents.statements import BY_A_PERSON, FIELDS, OPENED, RANKS, UPDATED

WORDS = st.sampled_from(["", "a", "b", "ä"])
STATEMENTS = st.builds(
    IncidentStatement,
    st.just("monte-carlo"),
    st.just("1"),
    state=st.none() | st.sampled_from(STATES),
    severity=st.none() | st.sampled_from(SEVERITIES),
    title=st.none() | WORDS,
    owner=st.none() | WORDS,
    tables=st.lists(WORDS.filter(bool), max_size=2).map(tuple),
    rank=st.sampled_from(RANKS),
)
TIMES = st.integers(0, 4).map(lambda second: f"2026-01-01T00:00:0{second}.000000Z")
INCIDENTS = st.builds(stated, STATEMENTS, TIMES)


@given(INCIDENTS, INCIDENTS, INCIDENTS)
def test_merging_is_commutative_associative_and_idempotent(one: Incident, two: Incident, three: Incident) -> None:
    assert merge(one, two) == merge(two, one)
    assert merge(merge(one, two), three) == merge(one, merge(two, three))
    assert merge(one, one) == one
    assert merge(merge(one, two), two) == merge(one, two)


@given(st.lists(st.tuples(STATEMENTS, TIMES), min_size=1, max_size=6))
def test_the_result_is_what_each_field_would_be_alone(messages: list[tuple[IncidentStatement, str]]) -> None:
    found = reduce(merge, (stated(statement, time) for statement, time in messages))
    states = [statement.state or "open" for statement, _ in messages]
    assert found.state == max(states, key=STATES.index)
    assert found.opened_at == min(time for _, time in messages)
    resolved = [time for statement, time in messages if statement.state == "resolved"]
    assert found.resolved_at == min(resolved, default=None)
    for name in FIELDS:
        values = [(one.rank, getattr(one, name)) for one, _ in messages if getattr(one, name)]
        if name == "severity":
            best = max(values, key=lambda value: (value[0], SEVERITIES.index(value[1])), default=None)
        else:
            best = max(values, default=None)
        assert found.fields.get(name) == best


@given(st.lists(INCIDENTS, min_size=1, max_size=4), TIMES)
def test_a_pass_resolves_what_was_opened_before_it_whenever_it_is_known(found: list[Incident], passed: str) -> None:
    at_the_end = with_pass(reduce(merge, found), passed)
    each_time = reduce(lambda known, one: with_pass(merge(known, one), passed), found, with_pass(found[0], passed))
    assert each_time == at_the_end
    assert (at_the_end.state == "resolved") == (
        passed > at_the_end.opened_at or any(one.state == "resolved" for one in found)
    )


def test_resolved_before_it_was_opened_stays_resolved() -> None:
    opened = stated(IncidentStatement("s", "1", "open", title="Late"), "2026-01-01T00:00:02.000000Z")
    resolved = stated(IncidentStatement("s", "1", "resolved", rank=UPDATED), "2026-01-01T00:00:01.000000Z")
    found = merge(resolved, opened)
    assert (found.state, found.value("title"), found.resolved_at) == ("resolved", "Late", "2026-01-01T00:00:01.000000Z")


def test_what_a_person_states_outweighs_the_source_and_an_update_the_first_message() -> None:
    said = [
        stated(IncidentStatement("s", "1", severity="critical", owner="zoe", rank=OPENED), "t"),
        stated(IncidentStatement("s", "1", severity="info", owner="max", rank=UPDATED), "t"),
        stated(IncidentStatement("s", "1", owner="ann", rank=BY_A_PERSON), "t"),
    ]
    for order in permutations(said):
        found = reduce(merge, order)
        assert (found.value("severity"), found.value("owner")) == ("info", "ann")


def test_an_update_without_a_state_that_comes_first_opens_it() -> None:
    found = stated(IncidentStatement("s", "1", rank=UPDATED), "t")
    assert (found.state, found.value("severity"), found.value("title")) == ("open", "warning", "")
