"""What Okta states about users, in a real PostgreSQL: kept out at once, let in again, and in their groups."""

import random
from typing import Any

import psycopg
import pytest

from lily.model.access import Principal
from lily.model.errors import Refused
from lily.model.values import MAX_ITEMS
from lily.store.postgres.access.administration import create_token, seconds_left
from lily.store.postgres.access.users import change_user, disable_user
from tests.okta import delivery, lifecycle, membership
from tests.postgres.incidents import IncidentWorld
from tests.postgres.migrated import Migrated

ONE, TWO, THREE = (f"2026-01-0{day}T08:00:00.000Z" for day in (1, 2, 3))


class Directory:
    """A tenant whose users Okta manages."""

    def __init__(self, incidents: IncidentWorld, migrated: Migrated) -> None:
        self.incidents, self._owner = incidents, migrated.owner

    @property
    def tenant(self) -> str:
        return self.incidents.tenant

    def says(self, *events: dict[str, Any]) -> None:
        self.incidents.handle(self.incidents.webhook(delivery(*events), "okta"))

    def token(self, user: str) -> str:
        return create_token(self._owner, self.tenant, ["metadata:read"], user)

    def lets_in(self, token: str) -> bool:
        return seconds_left(self._owner, token) > 0

    def disable(self, user: str) -> bool:
        return disable_user(self._owner, self.tenant, user)

    def disabled(self) -> set[str]:
        rows = self.incidents.rows("select user_name from disabled_users where tenant_id = %(tenant)s")
        return {row["user_name"] for row in rows}

    def groups(self, user: str) -> list[str]:
        rows = self.incidents.rows("select body from users where tenant_id = %(tenant)s and key = %(key)s", key=user)
        return [group for row in rows for group in row["body"]["groups"]]

    def audited(self) -> list[tuple[str, str]]:
        rows = self.incidents.rows("select principal, action from audit where tenant_id = %(tenant)s order by id")
        return [(row["principal"], row["action"]) for row in rows if row["principal"] != "owner"]

    def counted(self, name: str) -> float:
        return self.incidents.registry.get_sample_value(name) or 0.0


@pytest.fixture
def okta(incidents: IncidentWorld, migrated: Migrated) -> Directory:
    return Directory(incidents, migrated)


@pytest.mark.parametrize("kind", ["deactivate", "suspend", "delete.initiated", "delete.completed"])
def test_a_user_who_leaves_is_out_with_all_tokens(okta: Directory, kind: str) -> None:
    first, second, other = okta.token("Zoe@Example.org"), okta.token("zoe@example.org"), okta.token("ann@example.org")
    okta.says(lifecycle(kind, "zoe@example.org", ONE))
    assert [okta.lets_in(token) for token in (first, second, other)] == [False, False, True]
    assert okta.disabled() == {"zoe@example.org"}
    assert okta.audited() == [("okta", "token.revoked"), ("okta", "token.revoked"), ("okta", "user.disabled")]


def test_every_process_is_notified_and_the_decision_is_published(okta: Directory, migrated: Migrated) -> None:
    with psycopg.connect(migrated.owner, autocommit=True) as listening:
        listening.execute("listen lily_access")
        listening.execute("listen lily_policies")
        okta.says(lifecycle("deactivate", "zoe", ONE))
        seen = {one.channel: one.payload for one in listening.notifies(timeout=30, stop_after=2)}
    assert seen == {"lily_access": "", "lily_policies": okta.tenant}
    (decided,) = okta.incidents.rows("select kind, name, by from decisions where tenant_id = %(tenant)s")
    assert decided == {"kind": "disabled-user", "name": "zoe", "by": "okta"}


@pytest.mark.parametrize("kind", ["reactivate", "unsuspend", "activate"])
def test_a_user_who_returns_is_let_in_with_new_tokens_only(okta: Directory, kind: str) -> None:
    old = okta.token("zoe")
    okta.says(lifecycle("suspend", "zoe", ONE))
    okta.says(lifecycle(kind, "zoe", TWO))
    assert okta.disabled() == set()
    assert not okta.lets_in(old)
    assert okta.lets_in(okta.token("zoe"))


def test_an_event_that_arrives_late_does_not_undo_a_newer_one(okta: Directory) -> None:
    okta.says(lifecycle("unsuspend", "zoe", TWO))
    new = okta.token("zoe")
    okta.says(lifecycle("suspend", "zoe", ONE))
    assert okta.disabled() == set()
    assert okta.lets_in(new), "a token of the time after the suspension"
    okta.says(lifecycle("deactivate", "zoe", THREE))
    okta.says(lifecycle("activate", "zoe", TWO))
    assert okta.disabled() == {"zoe"}


def test_a_repeated_event_changes_nothing(okta: Directory) -> None:
    left = lifecycle("deactivate", "zoe", ONE)
    okta.says(left, left)
    okta.says(lifecycle("activate", "zoe", TWO))
    again = okta.token("zoe")
    okta.says(left)
    assert okta.lets_in(again)
    assert okta.audited() == [("okta", "user.disabled"), ("okta", "user.enabled")]


def test_what_is_known_in_the_end_does_not_depend_on_the_order(okta: Directory) -> None:
    shuffle = random.Random(7)
    kinds = ["deactivate", "activate", "suspend", "unsuspend", "deactivate"]
    for _ in range(5):
        okta.incidents.renewed()
        events = [lifecycle(kind, "zoe", f"2026-01-0{day}T00:00:00.000Z") for day, kind in enumerate(kinds, 1)]
        events += [
            membership(change, "zoe", "Stewards", f"2026-02-0{day}T00:00:00.000Z")
            for day, change in enumerate(["add", "remove", "add"], 1)
        ]
        shuffle.shuffle(events)
        for event in events:
            okta.says(event)
        assert (okta.disabled(), okta.groups("zoe")) == ({"zoe"}, ["Stewards"])


def test_a_user_whom_an_administrator_disabled_stays_out(okta: Directory, migrated: Migrated) -> None:
    okta.disable("zoe")
    okta.says(lifecycle("suspend", "zoe", ONE), lifecycle("unsuspend", "zoe", TWO))
    assert okta.disabled() == {"zoe"}
    okta.says(lifecycle("suspend", "ann", ONE))

    officer = Principal("", okta.tenant, "officer", frozenset({"admin"}))
    taken_over = migrated.as_api(lambda database: change_user(database, officer, "user.disabled", "Ann"))
    assert taken_over, "an administrator can take over what Okta disabled"
    okta.says(lifecycle("unsuspend", "ann", TWO))
    assert okta.disabled() == {"ann", "zoe"}


def test_groups_follow_okta_and_leave_the_others_alone(okta: Directory) -> None:
    okta.says(membership("add", "Zoe", "Stewards", ONE), membership("add", "zoe", "Finance", ONE))
    assert sorted(okta.groups("zoe")) == ["Finance", "Stewards"]
    okta.says(membership("remove", "ZOE", "stewards", TWO))
    assert okta.groups("zoe") == ["Finance"]
    okta.says(membership("add", "zoe", "Stewards", ONE))
    okta.says(membership("remove", "nobody", "Stewards", ONE))
    assert okta.groups("zoe") == ["Finance"]
    assert okta.groups("nobody") == []
    assert okta.audited() == [("okta", "user.changed")] * 3


def test_what_concerns_nobody_is_ignored_and_counted(okta: Directory) -> None:
    failed = lifecycle("deactivate", "zoe", ONE) | {"outcome": {"result": "FAILURE"}}
    okta.says(failed, lifecycle("create", "zoe", ONE), {"eventType": "system.api_token.create"}, {"eventType": None})
    assert okta.disabled() == set()
    assert okta.counted("lily_webhook_items_ignored_total") == 4


@pytest.mark.parametrize(
    "broken", [{"target": []}, {"target": None}, {"target": [{"type": "User", "alternateId": None}]}, {"uuid": None}]
)
def test_an_event_that_lacks_what_it_is_about_is_refused(okta: Directory, broken: dict[str, Any]) -> None:
    with pytest.raises(Refused):
        okta.says(lifecycle("deactivate", "zoe", ONE) | broken)
    assert okta.disabled() == set()


def test_a_user_who_leaves_is_out_although_another_event_of_the_delivery_cannot_be_applied(okta: Directory) -> None:
    token, many = okta.token("zoe"), [membership("add", "ann", f"g{number}", ONE) for number in range(MAX_ITEMS)]
    okta.says(*many)
    unreadable = membership("add", "ann", "a name\x07with a bell", TWO)
    one_too_many = membership("add", "ann", "one too many", TWO)
    okta.says(unreadable, one_too_many, lifecycle("deactivate", "zoe", TWO))
    assert (okta.disabled(), okta.lets_in(token)) == ({"zoe"}, False)
    letters = okta.incidents.rows("select topic, errors from dead_letters where tenant_id = %(tenant)s")
    assert [letter["topic"] for letter in letters] == ["incident-events@incidents"]
    assert "control characters" in letters[0]["errors"][0]["description"]


def test_a_membership_that_was_refused_can_be_replayed(okta: Directory) -> None:
    okta.says(*(membership("add", "ann", f"g{number}", ONE) for number in range(MAX_ITEMS)))
    refused = okta.incidents.webhook(delivery(membership("add", "ann", "late", TWO)), "okta")
    okta.incidents.handle(refused)
    assert "late" not in okta.groups("ann")
    okta.says(membership("remove", "ann", "g0", THREE))
    okta.incidents.handle(refused)
    assert "late" in okta.groups("ann")


def test_a_time_that_is_still_to_come_does_not_freeze_a_user(okta: Directory) -> None:
    okta.says(lifecycle("suspend", "zoe", "9999-01-01T00:00:00.000Z"))
    okta.says(lifecycle("unsuspend", "zoe", "9999-01-01T00:00:00.000Z"))
    assert okta.disabled() == set()


def test_another_tenant_is_not_touched(okta: Directory, incidents: IncidentWorld) -> None:
    token = okta.token("zoe")
    incidents.renewed()
    okta.says(lifecycle("deactivate", "zoe", ONE), membership("add", "zoe", "Stewards", ONE))
    assert okta.lets_in(token)
