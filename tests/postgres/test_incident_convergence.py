"""Any order, repetition and division into turns of messages ends in the same incidents as an oracle."""

from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lily.incidents import SEVERITIES, STATES, IncidentStatement
from lily.reactions.base import Event
from tests.postgres.incidents import IncidentWorld

TABLES = ("shop.public.orders", "shop.public.items", "nowhere.at_all")
ASSETS = TABLES[:2]
FIELDS = ("title", "owner", "url", "kind", "description")
WORDS = st.none() | st.sampled_from(["a", "b", "Z"])


@dataclass(frozen=True)
class Message:
    external_id: str
    time: str
    statement: IncidentStatement


@st.composite
def messages(draw: st.DrawFn) -> Message:
    external_id = draw(st.sampled_from(["1", "2"]))
    statement = IncidentStatement(
        "monte-carlo",
        external_id,
        draw(st.none() | st.sampled_from(STATES)),
        draw(st.none() | st.sampled_from(SEVERITIES)),
        title=draw(WORDS),
        owner=draw(WORDS),
        tables=tuple(draw(st.sets(st.sampled_from(TABLES), max_size=2))),
        rank=draw(st.sampled_from([0, 1, 2])),
        by=draw(st.sampled_from(["", "ann"])),
    )
    return Message(external_id, f"2026-01-0{draw(st.integers(1, 9))}T00:00:00.000000Z", statement)


def expected(said: list[Message]) -> dict[str, dict[str, Any]]:
    """What is true of each field of each incident, looked at alone."""
    found: dict[str, dict[str, Any]] = {}
    for external_id in {message.external_id for message in said}:
        about = [message for message in said if message.external_id == external_id]
        states = [message.statement.state or "open" for message in about]
        severities = [
            (one.statement.rank, SEVERITIES.index(one.statement.severity)) for one in about if one.statement.severity
        ]
        found[external_id] = {
            "state": STATES[max(map(STATES.index, states))],
            "severity": SEVERITIES[max(severities)[1]] if severities else "warning",
            "opened_at": min(message.time for message in about),
            "acknowledged_at": first(about, "acknowledged"),
            "resolved_at": first(about, "resolved"),
            "assets": {name for message in about for name in message.statement.tables if name in ASSETS},
            **{name: strongest(about, name) for name in FIELDS},
        }
    return found


def first(about: list[Message], state: str) -> str | None:
    return min((message.time for message in about if message.statement.state == state), default=None)


def strongest(about: list[Message], name: str) -> str:
    values = [(one.statement.rank, getattr(one.statement, name)) for one in about if getattr(one.statement, name)]
    return max(values)[1] if values else ""


def stored(world: IncidentWorld) -> dict[str, dict[str, Any]]:
    found = {}
    for external_id, row in world.incidents().items():
        times = ("opened_at", "acknowledged_at", "resolved_at")
        shown = {name: row[name] and row[name].strftime("%Y-%m-%dT%H:%M:%S.%fZ") for name in times}
        kept = {name: row[name] for name in ("state", "severity", *FIELDS)}
        found[external_id] = kept | shown | {"assets": world.assets(external_id)}
    return found


def turns(random: Random, events: list[Event]) -> list[list[Event]]:
    """The events in another order, some of them twice, in turns of random length."""
    mixed = events + random.sample(events, random.randint(0, len(events)))
    random.shuffle(mixed)
    cuts = sorted(random.sample(range(len(mixed) + 1), min(3, len(mixed))))
    return [turn for turn in (mixed[a:b] for a, b in zip([0, *cuts], [*cuts, len(mixed)], strict=True)) if turn]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(messages(), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_every_order_and_repetition_ends_in_the_same_incidents(
    incidents: IncidentWorld, said: list[Message], random: Random
) -> None:
    for table in ("incidents", "incident_assets", "incident_names", "incident_history", "queued_jobs"):
        incidents.rows(f"delete from {table} where tenant_id = %(tenant)s returning 1")  # noqa: S608
    for name in ASSETS:
        incidents.world.asset(name)
    events = [
        incidents.event(message.statement, message.time, f"event-{number}") for number, message in enumerate(said)
    ]
    for turn in turns(random, events):
        incidents.handle(*turn)
        if random.random() < 0.3:
            incidents.look()
    assert stored(incidents) == expected(said)
    history = incidents.rows("select event_id from incident_history where tenant_id = %(tenant)s")
    assert sorted(row["event_id"] for row in history) == sorted(f"event-{number}" for number in range(len(said)))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(messages(), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_assets_that_appear_at_any_time_end_in_the_same_attachments(
    incidents: IncidentWorld, said: list[Message], random: Random
) -> None:
    """Another tenant for each example: its assets have to be new."""
    fresh = incidents.renewed()
    steps: list[Any] = [*turns(random, [fresh.event(one.statement, one.time) for one in said]), *ASSETS]
    random.shuffle(steps)
    for step in steps:
        if isinstance(step, str):
            fresh.world.asset(step)
        else:
            fresh.handle(*step)
        if random.random() < 0.3:
            fresh.look()
    fresh.look()
    assert {key: row["assets"] for key, row in stored(fresh).items()} == {
        key: row["assets"] for key, row in expected(said).items()
    }
    assert fresh.unmatched() <= {"nowhere.at_all"}
