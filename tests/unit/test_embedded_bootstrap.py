"""Secrets and addresses of a stack."""

import base64
import json
import stat
from pathlib import Path

import pytest

from lily.embedded.bootstrap import ensure_master_key, url_for_role, url_without_password
from lily.embedded.services import ServiceEnvironment
from lily.model.errors import Terminal
from lily.settings import Settings

OWNER = "postgresql://owner:p%40ss@db.example:5432/lily?sslmode=require"


def test_a_role_gets_the_owners_address_with_its_own_name_and_password() -> None:
    assert url_for_role(OWNER, "lily_api", "a/b") == "postgresql://lily_api:a%2Fb@db.example:5432/lily?sslmode=require"


def test_an_address_without_a_user_is_accepted() -> None:
    assert url_for_role("postgresql://db/lily", "lily_api", "x") == "postgresql://lily_api:x@db/lily"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (OWNER, "postgresql://owner@db.example:5432/lily"),
        ("postgresql://owner:p:@ss@db/lily?password=secret", "postgresql://owner@db/lily"),
        ("postgresql://db/lily", "postgresql://db/lily"),
    ],
)
def test_a_shown_address_contains_no_password(url: str, shown: str) -> None:
    assert url_without_password(url) == shown


def test_a_keyword_address_is_rejected_with_the_expected_form() -> None:
    with pytest.raises(Terminal, match="postgresql://"):
        url_for_role("host=db dbname=lily", "lily_api", "x")


def test_the_master_key_is_created_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = ensure_master_key(tmp_path)
    first = path.read_text()
    assert len(base64.b64decode(first)) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert ensure_master_key(tmp_path).read_text() == first


def test_each_part_connects_with_its_own_role_and_the_api_gets_the_addresses_of_the_metrics(tmp_path: Path) -> None:
    databases = {"lily_api": "postgresql://api", "lily_pipeline": "postgresql://pipeline"}
    ports = {"api": 1, "pipeline": 2, "worker": 3, "kafka": 4, "grpc": 5}
    environment = ServiceEnvironment(tmp_path, "kafka:9", databases, ports, tmp_path / "jars", tmp_path / "master.key")
    assert environment.of("api")["LILY_DATABASE_URL"] == "postgresql://api"
    assert (environment.of("api")["LILY_PORT"], environment.of("api")["LILY_GRPC_PORT"]) == ("1", "5")
    assert json.loads(environment.of("api")["LILY_METRICS_PEERS"]) == ["http://127.0.0.1:2", "http://127.0.0.1:3"]
    assert (
        environment.of("worker")["LILY_DATABASE_URL"]
        == environment.of("pipeline")["LILY_DATABASE_URL"]
        == "postgresql://pipeline"
    )
    assert environment.of("worker")["LILY_METRICS_PORT"] == "3"


def test_links_of_the_worker_begin_with_the_address_of_the_api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    databases = {"lily_api": "postgresql://api", "lily_pipeline": "postgresql://pipeline"}
    ports = {"api": 18_585, "pipeline": 2, "worker": 3, "grpc": 5}
    environment = ServiceEnvironment(tmp_path, "kafka:9", databases, ports, tmp_path / "jars", tmp_path / "master.key")
    for name, value in environment.of("worker").items():
        monkeypatch.setenv(name, value)
    assert Settings().link_url == "http://127.0.0.1:18585"


def test_only_the_api_listens_on_the_configured_host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILY_HOST", "0.0.0.0")  # noqa: S104 (not bound here)
    databases = {"lily_api": "postgresql://api", "lily_pipeline": "postgresql://pipeline"}
    ports = {"api": 1, "pipeline": 2, "worker": 3, "grpc": 5}
    environment = ServiceEnvironment(tmp_path, "kafka:9", databases, ports, tmp_path / "jars", tmp_path / "master.key")
    hosts = [environment.of(name)["LILY_HOST"] for name in ("api", "pipeline", "worker")]
    assert hosts == ["0.0.0.0", "127.0.0.1", "127.0.0.1"]  # noqa: S104
