"""A tenant states the URL, and the worker of the operator connects: nothing of the operator is sent along."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from lily.connect.enforcers.postgres import PostgresConfig
from lily.model.errors import Terminal
from tests.enforcers.target import LILY, OWNER, PASSWORD, Target


@pytest.mark.parametrize(
    "url",
    [
        "postgresql:///shop",
        "dbname=shop",
        "postgresql://ann:x@%2Fvar%2Frun%2Fpostgresql/shop",
        "host=db.example,/tmp user=ann password=x",
        "host=@lily user=ann password=x",
        "postgresql://ann@db.example/shop?passfile=/home/lily/.pgpass",
        "postgresql://ann@db.example/shop?sslkey=/home/lily/key.pem",
        "postgresql://ann@db.example/shop?service=lily",
    ],
)
def test_a_url_that_would_use_something_of_the_worker_is_refused(url: str) -> None:
    with pytest.raises(ValidationError, match="the URL must"):
        PostgresConfig.model_validate({"url": url})


def test_the_passwords_of_the_worker_are_not_used(
    target: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "passwords"
    file.write_text(f"*:*:*:*:{PASSWORD}\n")
    file.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(file))
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    bare = target.url_of(LILY).replace(f":{PASSWORD}@", "@")
    with pytest.raises(Terminal, match="no password supplied"):
        target.enforcer(url=bare).inventory()
    assert target.enforcer().inventory().tables


def test_a_schema_that_someone_made_after_the_plan_is_not_used(target: Target) -> None:
    """Its owner could have Lily run anything, by a trigger on the table in which Lily keeps what it changed."""
    enforcer = target.enforcer()
    plan = enforcer.plan([target.decision("shop.orders", ["ann"], "allow")])
    target.run(f"create schema lily_enforcement authorization {OWNER}")
    with pytest.raises(Terminal, match="belongs to another role"):
        enforcer.apply(plan)
