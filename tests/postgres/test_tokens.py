"""API tokens: how long they are valid, how they are rotated, and when they were last used."""

import uuid
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from lily.api.auth.token_uses import TokenUses
from lily.embedded.bootstrap import ADMIN_TOKEN_SECONDS, TENANT, admin_token, ensure_admin_token
from lily.model.access import TOKEN_SECONDS
from lily.model.errors import Terminal
from lily.store.postgres.access.administration import (
    create_tenant,
    create_token,
    list_tokens,
    revoke_token,
    rotate_token,
    seconds_left,
)
from lily.store.postgres.sessions import Database
from tests.api_database import with_database
from tests.postgres.migrated import Migrated

DAY = 86_400


@pytest.fixture
def tenant(migrated: Migrated) -> str:
    name = f"t{uuid.uuid4().hex[:12]}"
    create_tenant(migrated.owner, name)
    return name


def listed(migrated: Migrated, tenant: str) -> list[dict[str, Any]]:
    return list_tokens(migrated.owner, tenant)


def only(migrated: Migrated, tenant: str) -> str:
    return str(listed(migrated, tenant)[-1]["id"])


def test_the_new_token_of_a_rotation_has_what_the_old_one_had(migrated: Migrated, tenant: str) -> None:
    create_token(migrated.owner, tenant, ["metadata:read"], "ann", 7 * DAY, scraper_group="crm")
    rotate_token(migrated.owner, only(migrated, tenant), DAY)
    old, new = listed(migrated, tenant)
    kept = ("tenant", "scopes", "user", "scraper_group")
    assert [new[name] for name in kept] == [old[name] for name in kept]
    assert new["replaces"] == old["id"] != new["id"]
    assert new["expires_at"] - new["created_at"] == timedelta(days=7)


def test_the_old_token_stays_valid_for_the_grace_period_alone(migrated: Migrated, tenant: str) -> None:
    old = create_token(migrated.owner, tenant, ["admin"])
    new = rotate_token(migrated.owner, only(migrated, tenant), 600)
    assert 590 < seconds_left(migrated.owner, old) <= 600
    assert seconds_left(migrated.owner, new) > DAY


def test_a_grace_period_does_not_prolong_a_token(migrated: Migrated, tenant: str) -> None:
    old = create_token(migrated.owner, tenant, ["admin"], ttl_seconds=60)
    rotate_token(migrated.owner, only(migrated, tenant), DAY)
    assert seconds_left(migrated.owner, old) <= 60


def test_the_successor_of_a_token_without_an_end_has_the_default_one(migrated: Migrated, tenant: str) -> None:
    create_token(migrated.owner, tenant, ["admin"])
    rotate_token(migrated.owner, only(migrated, tenant), 60)
    new = listed(migrated, tenant)[-1]
    assert new["expires_at"] - new["created_at"] == timedelta(seconds=TOKEN_SECONDS)


def test_a_rotation_is_audited(migrated: Migrated, tenant: str, owner: psycopg.Connection) -> None:
    create_token(migrated.owner, tenant, ["admin"])
    old = only(migrated, tenant)
    rotate_token(migrated.owner, old, 60, by="owner:ann")
    new = only(migrated, tenant)
    asked = "select principal, entity, detail ->> 'replaced_by' from audit where tenant_id = %s and action = %s"
    assert owner.execute(asked, [tenant, "token.rotated"]).fetchall() == [("owner:ann", old, new)]


def test_a_token_is_rotated_once(migrated: Migrated, tenant: str) -> None:
    create_token(migrated.owner, tenant, ["admin"])
    old = only(migrated, tenant)
    rotate_token(migrated.owner, old, 60)
    with pytest.raises(Terminal, match="was rotated before"):
        rotate_token(migrated.owner, old, 60)
    assert len(listed(migrated, tenant)) == 2


@pytest.mark.parametrize("given", ["00000000-0000-4000-8000-000000000000", "no-id"])
def test_what_is_no_token_is_not_rotated(migrated: Migrated, given: str) -> None:
    with pytest.raises(Terminal, match="lily token list"):
        rotate_token(migrated.owner, given, 60)


def test_a_revoked_token_is_not_rotated(migrated: Migrated, tenant: str) -> None:
    create_token(migrated.owner, tenant, ["admin"])
    revoke_token(migrated.owner, only(migrated, tenant))
    with pytest.raises(Terminal, match="no valid token"):
        rotate_token(migrated.owner, only(migrated, tenant), 60)


def test_the_last_use_is_written_once_a_minute_however_often_it_is_noted(migrated: Migrated, tenant: str) -> None:
    create_token(migrated.owner, tenant, ["admin"])
    token_id = only(migrated, tenant)

    async def used_three_times(database: Database) -> list[datetime]:
        seen, uses = [], TokenUses(database)
        for _ in range(3):
            uses.note(token_id)
            uses.note("")  # a user of an identity provider
            await uses.write()
            seen.append(listed(migrated, tenant)[-1]["last_used_at"])
        return seen

    first, *others = with_database(migrated.url_of("lily_api"), used_three_times)
    assert first is not None
    assert others == [first, first]


def test_a_use_that_could_not_be_written_is_written_later(migrated: Migrated, tenant: str) -> None:
    create_token(migrated.owner, tenant, ["admin"])
    token_id = only(migrated, tenant)

    async def closed_then_open(database: Database) -> None:
        uses = TokenUses(Database(migrated.url_of("lily_api")))  # never opened
        uses.note(token_id)
        await uses.write()
        assert listed(migrated, tenant)[-1]["last_used_at"] is None
        uses._database = database
        await uses.write()

    with_database(migrated.url_of("lily_api"), closed_then_open)
    assert listed(migrated, tenant)[-1]["last_used_at"] is not None


def test_the_api_cannot_read_or_change_tokens_itself(migrated: Migrated) -> None:
    with psycopg.connect(migrated.url_of("lily_api"), autocommit=True) as connection:
        for statement in ("select * from tokens", "update tokens set last_used_at = now()"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


class TestTheTokenOfTheEmbeddedStack:
    @pytest.fixture(autouse=True)
    def _tenant(self, migrated: Migrated) -> None:
        create_tenant(migrated.owner, TENANT)

    def test_it_expires(self, migrated: Migrated, tmp_path: Path) -> None:
        ensure_admin_token(tmp_path, migrated.owner)
        assert ADMIN_TOKEN_SECONDS - 60 < seconds_left(migrated.owner, admin_token(tmp_path)) <= ADMIN_TOKEN_SECONDS

    def test_it_is_kept_while_half_of_its_time_is_left(self, migrated: Migrated, tmp_path: Path) -> None:
        ensure_admin_token(tmp_path, migrated.owner)
        first = admin_token(tmp_path)
        ensure_admin_token(tmp_path, migrated.owner)
        assert admin_token(tmp_path) == first

    def test_it_is_renewed_at_the_next_start_and_the_old_one_stays_valid(
        self, migrated: Migrated, tmp_path: Path
    ) -> None:
        old = create_token(migrated.owner, TENANT, ["admin"], ttl_seconds=ADMIN_TOKEN_SECONDS // 3)
        (tmp_path / "admin.token").write_text(old)
        ensure_admin_token(tmp_path, migrated.owner)
        assert admin_token(tmp_path) != old
        assert seconds_left(migrated.owner, old) > 0

    def test_one_of_an_earlier_version_without_an_end_is_kept(self, migrated: Migrated, tmp_path: Path) -> None:
        old = create_token(migrated.owner, TENANT, ["admin"])
        (tmp_path / "admin.token").write_text(old)
        ensure_admin_token(tmp_path, migrated.owner)
        assert admin_token(tmp_path) == old
