"""Messages that are lost and sent again, repeated and out of order end in the incidents and marks of an oracle."""

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.postgres.incidents import IncidentWorld
from tests.postgres.risks import Risks, RiskWorld

SOURCES = ("raw.orders", "raw.items", "mart.orders")
EDGES = (
    ("raw.orders", "mart.orders"),
    ("raw.items", "mart.orders"),
    ("mart.orders", "bi.sales"),
    ("raw.items", "bi.stock"),
)
STATE_OF = {"": "open", "investigating": "acknowledged", "work_in_progress": "acknowledged", "fixed": "resolved"}
FURTHEST = ("open", "acknowledged", "resolved")


class Message(NamedTuple):
    """One of Monte Carlo: without feedback it opens the incident, with feedback it updates it."""

    incident: str
    table: str
    feedback: str

    @property
    def body(self) -> dict[str, Any]:
        payload: dict[str, Any] = {"incident_id": self.incident}
        if self.feedback:
            return {"type": "alert_feedback", "payload": payload | {"alert_feedback": self.feedback}}
        return {"type": "open_anomaly_incident", "payload": payload | {"event_list": [{"full_table_id": self.table}]}}


MESSAGES = st.builds(
    Message,
    st.sampled_from(["1", "2", "3"]),
    st.sampled_from([*SOURCES, "nowhere.at_all"]),
    st.sampled_from(["", "", *STATE_OF]),
)


def arrivals(chance: Random, said: Sequence[Message]) -> Iterator[Message]:
    """What reaches Lily: the sender repeats a message until its answer arrives, and the network loses requests and
    answers, and delays what it does not lose."""
    unanswered, delayed = list(said), list[Message]()
    while unanswered:
        message = chance.choice(unanswered)
        if chance.random() > 0.7:
            continue  # the request is lost
        delayed.append(message)
        if chance.random() < 0.7:
            unanswered.remove(message)
        chance.shuffle(delayed)
        while delayed and chance.random() < 0.5:
            yield delayed.pop()
    yield from delayed


def expected_states(said: Sequence[Message]) -> dict[str, str]:
    return {
        incident: max((STATE_OF[one.feedback] for one in said if one.incident == incident), key=FURTHEST.index)
        for incident in {one.incident for one in said}
    }


def expected_marks(said: Sequence[Message]) -> set[tuple[str, str]]:
    """Incidents and the assets that they put at risk: their own, and whatever can be reached from those."""
    states, marks = expected_states(said), set[tuple[str, str]]()
    for incident, table, feedback in said:
        if not feedback and table in SOURCES and states[incident] != "resolved":
            marks.add((incident, table))
    while reached := {(one, end) for one, at in marks for start, end in EDGES if start == at} - marks:
        marks |= reached
    return marks


def stored_marks(incidents: IncidentWorld, risks: RiskWorld) -> set[tuple[str, str]]:
    names = {incidents.world.id_of(name): name for edge in EDGES for name in edge}
    external = {str(row["incident_id"]): key for key, row in incidents.incidents().items()}
    return {(external[incident], names[asset]) for incident, asset in risks.stored()}


def live(incidents: IncidentWorld, risks: Risks, chance: Random, said: Sequence[Message]) -> RiskWorld:
    """Messages arrive in turns, assets appear meanwhile, workers die, and the marks follow at any distance."""
    estate, missing = RiskWorld(risks, incidents.world), chance.sample(SOURCES, len(SOURCES))
    for start, end in EDGES:
        incidents.world.edge(start, end)
    received = [incidents.webhook(message.body) for message in arrivals(chance, said)]
    while received or missing:
        size = chance.randint(1, len(received) + 1)
        turn, received = received[:size], received[size:]
        if turn:
            incidents.handle(*turn, dies=chance.random() < 0.3)
            incidents.handle(*turn)
        if missing and chance.random() < 0.5:
            incidents.world.asset(missing.pop())
        steps: list[Callable[[], object]] = [incidents.look, estate.relay, lambda: estate.deliver(chance), lambda: None]
        chance.choice(steps)()
    incidents.look()
    estate.deliver(chance)
    return estate


def compare(incidents: IncidentWorld, risks: Risks, chance: Random, said: Sequence[Message]) -> None:
    fresh = incidents.renewed()
    estate = live(fresh, risks, chance, said)
    assert {key: row["state"] for key, row in fresh.incidents().items()} == expected_states(said)
    assert stored_marks(fresh, estate) == expected_marks(said)
    assert estate.announced() == estate.stored()


LISTS, CHANCE = st.lists(MESSAGES, min_size=1, max_size=8), st.randoms(use_true_random=False)
FEW = settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@FEW
@given(said=LISTS, chance=CHANCE)
def test_whatever_the_network_does_the_same_incidents_and_marks_remain(
    incidents: IncidentWorld, risks: Risks, said: list[Message], chance: Random
) -> None:
    compare(incidents, risks, chance, said)


@pytest.mark.campaign
@pytest.mark.timeout(900)
@settings(parent=FEW, max_examples=150)
@given(said=LISTS, chance=CHANCE)
def test_the_same_for_many_more_messages(
    incidents: IncidentWorld, risks: Risks, said: list[Message], chance: Random
) -> None:
    compare(incidents, risks, chance, said)


def test_two_incidents_on_one_path_are_cleared_one_by_one(incidents: IncidentWorld, risks: Risks) -> None:
    """The oracle itself, by an example: resolved before it was opened, and twice."""
    said = [Message("1", "", "fixed"), Message("1", "raw.orders", ""), Message("2", "raw.items", "")]
    assert expected_marks(said) == {("2", "raw.items"), ("2", "mart.orders"), ("2", "bi.sales"), ("2", "bi.stock")}
    compare(incidents, risks, Random(1), [*said, said[0]])
