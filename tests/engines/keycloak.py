"""A real Keycloak with the realm of realm.json, in memory, on loopback."""

import os
import secrets
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from lily.embedded.java import find_java
from lily.embedded.lock import hold
from lily.embedded.ports import choose_ports
from tests.engines.download import unpacked
from tests.extra_api import until

REALM = "acme"
PASSWORD = "correct horse"
START_SECONDS = 150
KEYS = "org.keycloak.keys.KeyProvider"


@dataclass(frozen=True)
class Keycloak:
    url: str
    password: str  # of its administrator

    @property
    def issuer(self) -> str:
        return f"{self.url}/realms/{REALM}"

    def sign_in(self, user: str, client: str = "lily-web") -> dict[str, Any]:
        """`access_token`, `refresh_token` and `id_token`."""
        answer = self._grant(
            REALM, grant_type="password", client_id=client, username=user, password=PASSWORD, scope="openid"
        )
        assert answer.status_code == 200, answer.text
        return dict(answer.json())

    def refresh(self, tokens: dict[str, Any], client: str = "lily-web") -> httpx.Response:
        return self._grant(
            REALM, grant_type="refresh_token", client_id=client, refresh_token=str(tokens["refresh_token"])
        )

    def admin(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """A call of the administration of the realm."""
        granted = self._grant(
            "master", grant_type="password", client_id="admin-cli", username="admin", password=self.password
        )
        headers = {"Authorization": f"Bearer {granted.json()['access_token']}"}
        answer = httpx.request(method, f"{self.url}/admin/realms/{REALM}{path}", json=body, headers=headers, timeout=30)
        answer.raise_for_status()
        return answer

    def set_enabled(self, user: str, *, enabled: bool) -> None:
        (found,) = self.admin("GET", f"/users?username={user}&exact=true").json()
        self.admin("PUT", f"/users/{found['id']}", {"enabled": enabled})

    def signing_keys(self) -> list[dict[str, Any]]:
        """Its providers of RSA keys for signatures."""
        components = self.admin("GET", f"/components?type={KEYS}").json()
        return [component for component in components if component["providerId"] == "rsa-generated"]

    def add_signing_key(self) -> None:
        """From now on it signs with this one."""
        realm = self.admin("GET", "").json()["id"]
        config = {"priority": ["500"], "enabled": ["true"], "active": ["true"], "algorithm": ["RS256"]}
        component = {"name": "newer", "providerId": "rsa-generated", "providerType": KEYS, "parentId": realm}
        self.admin("POST", "/components", component | {"config": config})

    def _grant(self, realm: str, **form: str) -> httpx.Response:
        return httpx.post(f"{self.url}/realms/{realm}/protocol/openid-connect/token", data=form, timeout=30)


@contextmanager
def keycloak(log: Path) -> Iterator[Keycloak]:
    """Returns at once; `wait_for` reports that it is up."""
    home, port = unpacked("keycloak"), choose_ports(["keycloak"], {})["keycloak"]
    made = Keycloak(f"http://127.0.0.1:{port}", secrets.token_hex(8))
    environment = {
        **{name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},
        "JAVA": str(find_java()),
        "JAVA_OPTS_KC_HEAP": "-Xms64m -Xmx512m",
        "JAVA_OPTS_APPEND": "-XX:TieredStopAtLevel=1",  # it ends before the best machine code would pay for its making
        "KC_BOOTSTRAP_ADMIN_USERNAME": "admin",
        "KC_BOOTSTRAP_ADMIN_PASSWORD": made.password,
    }
    options = ["--db=dev-mem", "--http-host=127.0.0.1", f"--http-port={port}", "--import-realm"]
    with hold(home.parent / "keycloak.lock"):  # it keeps its build and the realm to import in its directory
        (home / "data" / "import").mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(__file__).with_name("realm.json"), home / "data" / "import" / f"{REALM}-realm.json")
        command = ["sh", str(home / "bin" / "kc.sh"), "start-dev", *options]
        with (
            log.open("wb") as output,
            subprocess.Popen(
                command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            ) as process,
        ):
            try:
                yield made
            finally:
                _end(process)


def wait_for(made: Keycloak, log: Path) -> None:
    def is_up() -> bool:
        try:
            return httpx.get(f"{made.issuer}/.well-known/openid-configuration", timeout=5).is_success
        except httpx.TransportError:
            return False

    try:
        until(is_up, START_SECONDS)
    except AssertionError as error:
        raise AssertionError(log.read_text()[-3000:]) from error


def _end(process: subprocess.Popen[bytes]) -> None:
    """The script starts Java as its child; both are in the group that it leads."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(20)
            return
