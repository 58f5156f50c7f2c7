"""The history of policies, roles and users: what was valid at which time, and what housekeeping leaves of it."""

from collections.abc import Awaitable, Callable, Collection
from datetime import timedelta
from typing import Any, LiteralString

import psycopg
import pytest

from lily.model.access import Principal
from lily.store.postgres.policies import objects
from lily.store.postgres.policies.history import Past, delete_old_history, read_past
from lily.store.postgres.policies.objects import Change, Changed, Entry, Kind
from lily.store.postgres.sessions import Database
from tests.api_database import Result, with_database
from tests.shared_stack import Stack

KEEP = timedelta(days=400)
MOMENT = timedelta(microseconds=1)
Make = Callable[[], tuple[str, str]]


class Administrator:
    """Changes objects as the API does, with its role, and looks at what that stored as the owner."""

    def __init__(self, url: str, tenant: str, owner: psycopg.Connection) -> None:
        self.tenant, self._url, self._owner = tenant, url, owner

    def change(self, how: Change, kind: Kind, key: str, shown: str = "", expected: int | None = None) -> Changed:
        entry, admin = Entry(kind, key, {"name": shown or key}), Principal("", self.tenant, "tester", frozenset())
        return self._run(lambda base: objects.change(base, admin, how, entry, correlation="c", expected=expected))

    def names(self, how: Change, *names: str) -> None:
        """Stores a role that names these subjects."""
        entry, admin = Entry("role", "reader", {"name": "reader"}, names), Principal("", self.tenant, "", frozenset())
        self._run(lambda base: objects.change(base, admin, how, entry, correlation="c"))

    def naming(self, subject: str) -> list[tuple[str, str]]:
        return self._run(lambda base: objects.naming(base, self.tenant, subject)).items

    def past(self, at: Any, *users: str) -> Past:
        return self._run(lambda base: read_past(base, self.tenant, str(at), users))

    def moments(self) -> list[Any]:
        """When something began or ended, in order."""
        both = "select distinct unnest(array_remove(array[valid_from, valid_to], null)) from access_history"
        return self._column(f"{both} where tenant_id = %s order by 1")

    def states(self) -> list[str]:
        """The names in the history, in order."""
        return self._column("select body ->> 'name' from access_history where tenant_id = %s order by valid_from")

    def version(self) -> int:
        (number,) = self._column("select version from access_versions where tenant_id = %s")
        return int(number)

    def complete_from(self) -> Any:
        """From when on the history is complete; None if it always was."""
        always = "select nullif(history_from, '-infinity') from access_versions where tenant_id = %s"
        (at,) = self._column(always)
        return at

    def age(self, key: str, by: timedelta = KEEP) -> None:
        """As if the states of an object were older."""
        self._owner.execute(
            "update access_history set valid_from = valid_from - %(by)s, valid_to = valid_to - %(by)s "
            "where tenant_id = %(tenant)s and key = %(key)s",
            {"by": by, "tenant": self.tenant, "key": key},
        )

    def _column(self, statement: LiteralString) -> list[Any]:
        return [value for (value,) in self._owner.execute(statement, [self.tenant])]

    def _run(self, work: Callable[[Database], Awaitable[Result]]) -> Result:
        return with_database(self._url, work)


@pytest.fixture
def make(stack: Stack, make_tenant: Make, owner: psycopg.Connection) -> Callable[[], Administrator]:
    return lambda: Administrator(stack.database_of("lily_api"), make_tenant()[0], owner)


def shown(found: Collection[dict[str, Any]]) -> list[str]:
    return sorted(body["name"] for body in found)


def test_a_state_is_valid_from_its_beginning_until_just_before_the_next(make: Callable[[], Administrator]) -> None:
    admin = make()
    for kind in ("policy", "role", "user"):
        admin.change("create", kind, kind, f"{kind} 1")
        admin.change("replace", kind, kind, f"{kind} 2")
        admin.change("delete", kind, kind)
    moments = admin.moments()
    assert len(moments) == 9
    for kind, begun in (("policy", 0), ("role", 3), ("user", 6)):
        created, replaced, deleted = moments[begun : begun + 3]
        for at, valid in (
            (created - MOMENT, []),
            (created, [f"{kind} 1"]),
            (replaced - MOMENT, [f"{kind} 1"]),
            (replaced, [f"{kind} 2"]),
            (deleted - MOMENT, [f"{kind} 2"]),
            (deleted, []),
        ):
            past = admin.past(at, "user")
            assert shown([*past.policies.values(), *past.roles.values(), *past.users.values()]) == valid


def test_objects_of_the_same_name_have_histories_of_their_own(make: Callable[[], Administrator]) -> None:
    admin = make()
    for kind in ("policy", "role", "user"):
        admin.change("create", kind, "reader")
    admin.change("delete", "user", "reader")
    past = admin.past("now", "reader")
    assert (list(past.policies), list(past.roles), list(past.users)) == (["reader"], ["reader"], [])


def test_a_change_that_was_checked_against_another_version_does_nothing(make: Callable[[], Administrator]) -> None:
    admin = make()
    admin.change("create", "role", "reader")
    changes: list[tuple[Change, str]] = [("create", "writer"), ("replace", "reader"), ("delete", "reader")]
    for how, key in changes:
        late = admin.change(how, "role", key, "late", expected=0)
        assert (late.done, late.version) == (False, 1)
    assert admin.change("replace", "role", "reader", "in time", expected=1).done
    assert (admin.states(), admin.version()) == (["reader", "in time"], 2)


def test_an_object_names_what_it_was_replaced_with(make: Callable[[], Administrator]) -> None:
    admin, expected = make(), [("role", "reader")]
    admin.names("create", "r:old", "g:hr")
    assert (admin.naming("r:old"), admin.naming("r:new")) == (expected, [])
    admin.names("replace", "r:new", "g:hr")
    assert (admin.naming("r:old"), admin.naming("r:new"), admin.naming("g:hr")) == ([], expected, expected)


def test_housekeeping_deletes_what_ended_long_ago_and_records_since_when_the_rest_is_complete(
    make: Callable[[], Administrator], stack: Stack
) -> None:
    admin, young, untouched = make(), make(), make()
    for one in (admin, young):
        for key in ("old", "still"):
            one.change("create", "policy", key)
        one.change("delete", "policy", "old")
        one.change("create", "policy", "recent")
        one.change("delete", "policy", "recent")
    for key in ("old", "still"):
        admin.age(key)
    untouched.change("create", "policy", "still")
    untouched.age("still")
    with psycopg.connect(stack.database_of("lily_pipeline")) as pipeline:
        assert delete_old_history(pipeline, KEEP) >= 1
        ((cutoff,),) = pipeline.execute("select now() - %s", [KEEP]).fetchall()
    assert (admin.states(), young.states()) == (["still", "recent"], ["old", "still", "recent"])
    assert untouched.states() == ["still"]
    assert admin.complete_from() == cutoff
    assert young.complete_from() is untouched.complete_from() is None
    assert admin.past(cutoff - MOMENT).history_from is not None
    assert (admin.past(cutoff).history_from, list(admin.past(cutoff).policies)) == (None, ["still"])


def test_housekeeping_that_keeps_more_than_before_does_not_claim_what_was_deleted(
    make: Callable[[], Administrator], stack: Stack
) -> None:
    admin, starts = make(), []
    for keep in (KEEP, 2 * KEEP):
        admin.change("create", "policy", "old")
        admin.change("delete", "policy", "old")
        admin.age("old", keep)
        with psycopg.connect(stack.database_of("lily_pipeline")) as pipeline:
            assert delete_old_history(pipeline, keep) >= 1
        starts.append(admin.complete_from())
    assert starts[0] == starts[1]
