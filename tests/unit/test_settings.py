"""Settings: which are refused, and what the command line says about them."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from lily.cli.options import BadSettings, read_settings
from lily.settings import Settings


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def refusal() -> str:
    with pytest.raises(BadSettings) as refused:
        read_settings(None)
    return str(refused.value)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("LILY_WAREHOSE", "LILY_WAREHOUSE"),
        ("lily_warehose", "LILY_WAREHOUSE"),
        ("LILY_API__WORKER", "LILY_API__WORKERS"),
        ("LILY_API_WORKERS", "LILY_API__WORKERS"),
        ("LILY_OIDC__ISSUER", "LILY_OIDC__ISSUERS"),
        ("LILY_LAKES__BUCKETS", "LILY_LAKE__BUCKETS"),
    ],
)
def test_a_misspelt_variable_is_refused_with_the_one_that_was_meant(
    monkeypatch: pytest.MonkeyPatch, name: str, meant: str
) -> None:
    monkeypatch.setenv(name, "a secret")
    assert refusal().startswith(f"unknown setting {name.upper()}; did you mean {meant}? Correct it")


@pytest.mark.parametrize("name", ["LILY_S3_SECRET", "LILY_S3__SECRT_KEY"])
def test_the_value_of_an_unknown_variable_is_not_shown(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "swordfish")
    assert "swordfish" not in refusal()
    with pytest.raises(ValidationError) as refused:
        Settings()
    assert "swordfish" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[api]\nworker = 4", "unknown setting api.worker in lily.toml; did you mean api.workers?"),
        ("warehose = 's3://b/x'", "unknown setting warehose in lily.toml; did you mean warehouse?"),
        ("[propagations]\n", "unknown setting propagations in lily.toml; the settings are in docs/operations.md."),
    ],
)
def test_an_unknown_key_of_the_file_is_refused(text: str, says: str) -> None:
    Path("lily.toml").write_text(text)
    assert refusal().startswith(says)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LILY_KAFKA_PARTITIONS", "0"),
        ("LILY_LAKE__TRIGGER_SECONDS", "0"),
        ("LILY_LAKE__BUCKETS", "0"),
        ("LILY_LIMITS__SUBSCRIPTIONS", "0"),
        ("LILY_LOG_LEVEL", "LOUD"),
    ],
)
def test_a_value_that_cannot_work_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    assert name in refusal().upper().replace('FIELD "', "LILY_")


def test_variables_that_are_not_settings_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    allowed = {
        "LILY_URL": "http://127.0.0.1:1",
        "LILY_TOKEN": "t",
        "LILY_STACK": "x",
        "LILY_API_SERVICE_HOST": "10.0.0.1",  # of Kubernetes, for a service called lily-api
        "LILY_API_SERVICE_PORT_HTTP": "80",
        "LILY_API_PORT": "tcp://10.0.0.1:80",
        "LILY_API_PORT_80_TCP_ADDR": "10.0.0.1",
        "LILY_LOG_LEVEL": "debug",
    }
    for name, value in allowed.items():
        monkeypatch.setenv(name, value)
    assert Settings().log_level == "debug"


def test_the_earlier_names_of_what_tenants_may_reach_still_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILY_ENFORCEMENT__ALLOWED_NETWORKS", '["10.1.0.0/16"]')
    monkeypatch.setenv("LILY_OUTBOUND__ALLOWED_NETWORKS", '["10.2.0.0/16"]')
    monkeypatch.setenv("LILY_KAFKA_BOOTSTRAP", "own:9092")
    assert [str(one) for one in Settings().allowed_networks] == ["10.2.0.0/16", "10.1.0.0/16"]
    assert Settings().topics_brokers.bootstrap == "own:9092"
    monkeypatch.setenv("LILY_ENFORCEMENT__TOPICS_BOOTSTRAP", "earlier:9092")
    assert Settings().topics_brokers.bootstrap == "earlier:9092"
    monkeypatch.setenv("LILY_OUTBOUND__TOPICS_BOOTSTRAP", "shared:9092")
    assert Settings().topics_brokers.bootstrap == "shared:9092"


def test_the_settings_of_a_worker_are_those_of_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    given = Settings(port=1234, warehouse="s3://b/x").model_dump_json()
    monkeypatch.setenv("LILY_API_WORKER_SETTINGS", given)
    assert Settings.model_validate_json(given) == Settings(port=1234, warehouse="s3://b/x")
