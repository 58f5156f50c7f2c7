"""Issuers in the settings: from the environment and from lily.toml; what would be unsafe is refused with a remedy."""

import json
from pathlib import Path
from typing import Any

import pytest

from lily.cli.options import BadSettings, read_settings
from lily.issuers import Oidc
from lily.settings import Settings

ISSUER: dict[str, Any] = {"issuer": "https://id.example.com/realms/acme", "audience": "lily", "tenant": "acme"}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # no lily.toml but that of the test


def configured(monkeypatch: pytest.MonkeyPatch, *issuers: dict[str, Any]) -> Settings:
    monkeypatch.setenv("LILY_OIDC__ISSUERS", json.dumps(issuers))
    return read_settings(None)


def test_an_issuer_needs_three_values(monkeypatch: pytest.MonkeyPatch) -> None:
    (issuer,) = configured(monkeypatch, ISSUER).oidc.issuers
    assert (issuer.user_claim, issuer.groups_claim, issuer.clock_skew_seconds) == ("preferred_username", "groups", 60)
    assert (issuer.scopes, issuer.group_scopes, issuer.trust_scope_claim) == ((), {}, False)
    assert set(issuer.algorithms) == {"RS256", "PS256", "ES256", "EdDSA"}


def test_issuers_can_be_in_lily_toml() -> None:
    Path("lily.toml").write_text(
        '[[oidc.issuers]]\nissuer = "https://id.example.com"\naudience = "lily"\ntenant = "acme"\n'
        'scopes = ["metadata:read"]\n[oidc.issuers.group_scopes]\nstewards = ["policy:read", "policy:write"]\n'
    )
    (issuer,) = read_settings(None).oidc.issuers
    assert issuer.scopes == ("metadata:read",)
    assert issuer.group_scopes == {"stewards": ("policy:read", "policy:write")}


def test_workers_get_the_same_issuers(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = configured(monkeypatch, ISSUER | {"group_scopes": {"a": ["admin"]}})
    assert Settings.model_validate_json(settings.model_dump_json()).oidc == settings.oidc


def test_without_issuers_there_is_no_sign_in() -> None:
    assert read_settings(None).oidc == Oidc()


@pytest.mark.parametrize(
    ("change", "remedy"),
    [
        ({"audience": None}, "set the audience"),
        ({"audience": " "}, "set the audience"),
        ({"tenant": None}, "Field required"),
        ({"tenant": "Not A Name"}, "TENANT"),
        ({"issuer": "http://id.example.com"}, "https://"),
        ({"issuer": "http://127.0.0.1.example.com"}, "https://"),
        ({"issuer": "http://[::1"}, "https://"),
        ({"issuer": "id.example.com"}, "https://"),
        ({"issuer": "https://id.example.com/?realm=1"}, "no query"),
        ({"scopes": ["metadata:reed"]}, "metadata:read"),
        ({"group_scopes": {"stewards": ["root"]}}, "admin"),
        ({"algorithms": ["HS256"]}, "RS256"),
        ({"algorithms": ["none"]}, "RS256"),
        ({"algorithms": []}, "ALGORITHMS"),
        ({"audiance": "lily"}, "AUDIANCE"),
        ({"clock_skew_seconds": -1}, "CLOCK_SKEW_SECONDS"),
        ({"key_refresh_seconds": 600, "key_max_age_seconds": 300}, "key_max_age_seconds"),
    ],
)
def test_what_would_be_unsafe_is_refused(monkeypatch: pytest.MonkeyPatch, change: dict[str, Any], remedy: str) -> None:
    entry = {name: value for name, value in (ISSUER | change).items() if value is not None}
    with pytest.raises(BadSettings, match="LILY_OIDC__ISSUERS") as refused:
        configured(monkeypatch, entry)
    assert remedy in str(refused.value)


def test_what_is_not_json_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILY_OIDC__ISSUERS", "https://id.example.com")
    with pytest.raises(BadSettings, match="JSON"):
        read_settings(None)


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "[::1]:8080", "localhost"])
def test_a_provider_on_this_machine_needs_no_tls(monkeypatch: pytest.MonkeyPatch, host: str) -> None:
    url = f"http://{host}/realms/acme"
    assert configured(monkeypatch, ISSUER | {"issuer": url}).oidc.issuers[0].issuer == url


@pytest.mark.parametrize("again", [ISSUER["issuer"], ISSUER["issuer"] + "/"])
def test_two_issuers_with_one_url_are_refused(monkeypatch: pytest.MonkeyPatch, again: str) -> None:
    with pytest.raises(BadSettings, match="listed twice"):
        configured(monkeypatch, ISSUER, ISSUER | {"issuer": again, "tenant": "other"})


def test_two_issuers_may_have_one_tenant(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = configured(monkeypatch, ISSUER, ISSUER | {"issuer": "https://other.example.com"})
    assert [issuer.tenant for issuer in settings.oidc.issuers] == ["acme", "acme"]
