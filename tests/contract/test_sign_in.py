"""Sign-in with access tokens of an OpenID Connect issuer, at every door that takes a token."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from lily.store.postgres.access.administration import create_token
from lily.store.postgres.access.users import disable_user, enable_user
from tests.contract.door import WAIT, Door, client, codes, table
from tests.contract.test_grpc import Code, calling, failing
from tests.contract.test_notifications import listen, next_message
from tests.extra_api import extra_api, until
from tests.identity_provider import AUDIENCE, IdentityProvider, identity_provider
from tests.shared_stack import Stack

pytestmark = pytest.mark.campaign  # it starts an API and an identity provider

Make = Callable[[], tuple[str, str]]
MISSING = "0b1c2d3e-0000-4000-8000-000000000000"


@dataclass(frozen=True)
class Site:
    """An API that accepts one provider for one tenant."""

    stack: Stack
    tenant: str
    api_token: str
    provider: IdentityProvider
    log: Path

    @contextmanager
    def door(self, token: str) -> Iterator[Door]:
        with client(self.stack, token) as http:
            yield Door(self.stack, self.tenant, token, http)

    def signed_in(self, user: str = "ada", **claims: Any) -> AbstractContextManager[Door]:
        return self.door(self.provider.token(preferred_username=user, groups=["stewards"], **claims))


def issuer(provider: IdentityProvider, tenant: str, **options: Any) -> dict[str, Any]:
    scopes = {"stewards": ["metadata:read", "metadata:write", "lineage:read", "lineage:write", "metrics:read"]}
    entry = {"issuer": provider.issuer, "audience": AUDIENCE, "tenant": tenant, "group_scopes": scopes}
    return entry | {"clock_skew_seconds": 0} | options


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with identity_provider() as found:
        yield found


@pytest.fixture(scope="module")
def site(
    stack: Stack, make_tenant: Make, provider: IdentityProvider, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    tenant, api_token = make_tenant()
    log = tmp_path_factory.mktemp("sign-in") / "api.log"
    with identity_provider() as orphan:
        issuers = json.dumps([issuer(provider, tenant), issuer(orphan, f"{tenant}-missing")])
        with extra_api(stack, log, LILY_OIDC__ISSUERS=issuers) as seen:
            made = Site(seen, tenant, api_token, provider, log)
            _refuse_missing_tenant(made, orphan)
            yield made


def _refuse_missing_tenant(site: Site, orphan: IdentityProvider) -> None:
    with site.door(orphan.token()) as door:
        refused = door.http.get("/metadata")
    assert (refused.status_code, codes(refused)) == (503, {"UNAVAILABLE"}), refused.text
    assert f"lily tenant create {site.tenant}-missing" in refused.text


def test_a_user_reads_and_writes_in_the_issuers_tenant_and_is_named_in_the_history(site: Site) -> None:
    with site.signed_in(tenant="default", tenant_id="default") as ada, site.door(site.api_token) as admin:
        asset_id = ada.ingest("shop.orders")
        ada.change("PUT", f"/metadata/{asset_id}", {"attributes": {"owner": "ada"}})
        assert ada.read(asset_id)["tenant_id"] == site.tenant
        assert admin.read(asset_id)["attributes"]["owner"] == "ada"
        history = admin.http.get(f"/metadata/{asset_id}/history").text
    assert '"ada"' in history


def test_scopes_come_from_groups_and_a_denial_names_the_missing_one(site: Site) -> None:
    with site.door(site.provider.token(groups=["interns"])) as intern:
        refused = intern.http.get("/metadata")
    assert (refused.status_code, codes(refused)) == (403, {"FORBIDDEN"})
    assert "needs the scope metadata:read" in refused.text


@pytest.mark.parametrize(
    ("claims", "reason"),
    [({"exp": 1000}, "has expired"), ({"aud": "other"}, f"aud must contain {AUDIENCE}"), ({"iss": "https://x"}, "iss")],
)
def test_a_refusal_says_why_and_does_not_repeat_the_token(site: Site, claims: dict[str, Any], reason: str) -> None:
    token = site.provider.token(**claims)
    for path in ("/metadata", f"/metadata/{MISSING}"):
        with site.door(token) as door:
            refused = door.http.get(path)
        assert (refused.status_code, codes(refused)) == (401, {"UNAUTHENTICATED"})
        assert reason in refused.text
        assert 'error="invalid_token"' in refused.headers["www-authenticate"]
        assert token.split(".")[1] not in refused.text + str(refused.headers)


@pytest.mark.parametrize("token", ["a.b.c", "x" * 20_000 + "..", "lily_forged", "\xff.\xff.\xff"])
def test_what_is_no_token_is_refused(site: Site, token: str) -> None:
    headers = {b"Authorization": f"Bearer {token}".encode("latin-1")}
    refused = httpx.get(f"{site.stack.url}/metadata", headers=headers, timeout=30)
    assert (refused.status_code, codes(refused)) == (401, {"UNAUTHENTICATED"})


def test_point_reads_of_a_cached_principal_end_with_the_token(site: Site) -> None:
    with site.door(site.api_token) as admin:
        asset_id = admin.ingest("shop.fast")
    with site.signed_in(exp=int(time.time()) + 4) as ada:
        for _ in range(5):
            assert ada.read(asset_id)["metadata_id"] == asset_id
        until(lambda: ada.http.get(f"/metadata/{asset_id}").status_code == 401, 30)
        assert "has expired" in ada.http.get(f"/metadata/{asset_id}").text


def test_grpc_takes_the_same_tokens(site: Site) -> None:
    with site.signed_in() as ada, calling(ada) as service:
        ada.ingest("shop.a")
        ada.ingest("shop.b")
        assert service.ingest("shop.a", "shop.b").success
        assert service.lineage("shop.a")
    with (
        site.signed_in(exp=1000) as late,
        calling(late) as service,
        failing(Code.UNAUTHENTICATED, "expired"),
    ):
        service.lineage("shop.a")
    with site.signed_in(padding="x" * 4800) as long, calling(long) as service:
        assert service.lineage("shop.a")


def test_a_web_socket_opens_with_a_ticket_once_and_ends_with_the_token(site: Site) -> None:
    with site.signed_in(exp=int(time.time()) + 6) as ada, site.signed_in("grace") as grace:
        shown = str(ada.http.post("/ws/tickets").json()["ticket"])
        with listen(ada, ticket=shown) as socket:
            asset_id = grace.ingest("shop.live")
            assert next_message(socket)["metadata_id"] == asset_id
            with pytest.raises(InvalidStatus) as refused:
                listen(ada, ticket=shown)
            assert refused.value.response.status_code == 401
            with pytest.raises(ConnectionClosed) as closed:
                socket.recv(timeout=60)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1008


def test_a_web_socket_opens_with_the_token_itself(site: Site) -> None:
    with site.signed_in() as ada, listen(ada) as socket:
        asset_id = ada.ingest("shop.header")
        assert next_message(socket)["metadata_id"] == asset_id


def test_a_disabled_user_is_out_at_once_with_every_token(site: Site) -> None:
    own = create_token(site.stack.database, site.tenant, ["metadata:read"], user="Zoë")
    with (
        site.signed_in("zoë") as zoe,
        site.door(own) as program,
        site.signed_in("grace") as grace,
        listen(zoe) as by_token,
        listen(zoe, ticket=str(zoe.http.post("/ws/tickets").json()["ticket"])) as by_ticket,
        listen(program) as by_api_token,
    ):
        unused = str(zoe.http.post("/ws/tickets").json()["ticket"])
        assert zoe.http.get("/metadata").status_code == program.http.get("/metadata").status_code == 200
        assert disable_user(site.stack.database, site.tenant, "ZOË")
        until(lambda: zoe.http.get("/metadata").status_code == program.http.get("/metadata").status_code == 401, 3)
        assert "disabled" in zoe.http.get("/metadata").text
        for socket in (by_token, by_ticket, by_api_token):
            with pytest.raises(ConnectionClosed):
                socket.recv(timeout=30)
        with pytest.raises(InvalidStatus):
            listen(zoe, ticket=unused)
        assert grace.http.get("/metadata").status_code == 200
        assert not disable_user(site.stack.database, site.tenant, "zoë")
        assert enable_user(site.stack.database, site.tenant, "zoë")
        until(lambda: zoe.http.get("/metadata").status_code == program.http.get("/metadata").status_code == 200, 30)


def test_a_user_who_is_disabled_by_one_process_is_out_in_the_others(site: Site, stack: Stack) -> None:
    own = create_token(site.stack.database, site.tenant, ["metadata:read"], user="yve")
    with (
        site.signed_in("yve") as yve,
        site.door(own) as program,
        client(stack, site.api_token) as elsewhere,
        listen(program) as socket,
    ):
        assert yve.http.get("/metadata").status_code == program.http.get("/metadata").status_code == 200
        assert elsewhere.base_url != yve.http.base_url
        assert elsewhere.post("/users/Yve/disable").json()["changed"] is True
        with pytest.raises(ConnectionClosed):  # which only the notification causes
            socket.recv(timeout=30)
        assert yve.http.get("/metadata").status_code == program.http.get("/metadata").status_code == 401
        assert elsewhere.delete("/users/yve/disable").json()["changed"] is True
        until(lambda: yve.http.get("/metadata").status_code == program.http.get("/metadata").status_code == 200, 30)


def test_a_user_who_is_disabled_in_one_tenant_is_not_in_another(site: Site, make_tenant: Make) -> None:
    other, _ = make_tenant()
    assert disable_user(site.stack.database, other, "ada")
    with site.signed_in() as ada:
        assert ada.http.get("/metadata").status_code == 200


def test_an_unknown_key_while_the_provider_is_down_is_no_fault_of_the_caller(site: Site) -> None:
    with site.signed_in() as ada, site.door(site.api_token) as admin:
        assert ada.http.get("/metadata").status_code == 200
        site.provider.stop()
        try:
            with site.door(site.provider.token(header={"kid": "rsa-new"})) as unknown:
                until(lambda: unknown.http.get("/metadata").status_code == 503, 30)
                refused = unknown.http.get("/metadata")
            assert refused.headers["retry-after"]
            assert codes(refused) == {"UNAVAILABLE"}
            assert site.provider.issuer not in refused.text
            assert ada.http.get("/metadata").status_code == 200
            assert admin.http.get("/metadata").status_code == 200
        finally:
            site.provider.start()


def test_metrics_count_sign_ins_without_naming_tenants_and_no_token_is_logged(site: Site) -> None:
    token = site.provider.token(preferred_username="logged", groups=["stewards"])
    with site.door(token) as ada:
        assert ada.http.post("/ingest-metadata", json=table("shop.m"), headers=WAIT).status_code == 200
        assert ada.http.get("/metadata", params={"limit": "x"}).status_code == 400
        text = ada.http.get("/metrics").text
    assert 'lily_oidc_logins_total{issuer="0",outcome="accepted"}' in text
    assert 'lily_oidc_logins_total{issuer="1",outcome="unavailable"}' in text
    assert 'lily_oidc_key_refreshes_total{issuer="0",outcome="succeeded"}' in text
    assert site.tenant not in text
    assert site.provider.issuer not in text
    assert token.split(".")[2] not in site.log.read_text()
