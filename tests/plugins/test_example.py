"""The example plug-in is installed by pip and used; broken ones beside it are reported and stop nothing."""

import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from lily.embedded.ports import choose_ports
from tests.plugins.site import EXAMPLE, ROOT, Site, variant
from tests.shared_stack import Stack

pytestmark = pytest.mark.campaign  # it installs packages, and starts the API beside them

CONNECTORS = '[project.entry-points."lily.connectors"]\nsqlite = "{module}:Sqlite"\n'
FORMAT = """
[project.entry-points."lily.formats"]
tsv = "lily_broken_format:Tsv"
ndjson = "lily_broken_format:Ndjson"
"""
BROKEN_FORMAT = """
class Ndjson:
    media_types = ("application/x-ndjson",)
    suffixes = ()
    def splitter(self, limit):
        raise RuntimeError("hijacked")

class Tsv:
    media_types = ("text/tab-separated-values",)
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    directory = tmp_path_factory.mktemp("plugins")
    site = Site(directory / "site")
    site.install(EXAMPLE)
    return site


@pytest.fixture(scope="module")
def broken_site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The example, and four more distributions that something is wrong with."""
    directory = tmp_path_factory.mktemp("broken")
    site = Site(directory / "site")
    site.install(EXAMPLE)
    site.install(variant(directory, "lily-no-import", {"import sqlite3": "import no_such_module", "sqlite =": "a ="}))
    site.install(variant(directory, "lily-no-check", {"def check": "def chekc", "sqlite =": "b ="}))
    site.install(variant(directory, "lily-same-name", {}))
    formats = variant(directory, "lily-broken-format", {CONNECTORS.format(module="lily_broken_format"): FORMAT})
    (formats / "lily_broken_format.py").write_text(BROKEN_FORMAT)
    site.install(formats)
    return site


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    connection = sqlite3.connect(path)
    connection.execute("create table customers (id integer primary key, email text)")
    connection.execute("create view mailing_list as select email from customers")
    connection.close()
    return path


def test_after_pip_install_nothing_else_is_needed(site: Site) -> None:
    assert site.plugins() == [
        {
            "group": "lily.connectors",
            "name": "sqlite",
            "origin": "lily-sqlite",
            "version": "0.1.0",
            "state": "ready",
            "problem": "",
        }
    ]


def test_it_passes_the_suite_of_its_port(site: Site, tmp_path: Path) -> None:
    test = tmp_path / "test_lily_sqlite.py"
    test.write_text((EXAMPLE / "test_lily_sqlite.py").read_text())
    done = site.run("pytest", "-q", "-p", "no:cacheprovider", str(test))
    assert done.returncode == 0, done.stdout
    assert "11 passed" in done.stdout


def test_it_reads_a_database_into_the_running_stack(
    site: Site, stack: Stack, make_tenant: Callable[[], tuple[str, str]], database: Path
) -> None:
    _, token = make_tenant()
    recipe = database.with_name("recipe.toml")
    recipe.write_text(f'[source]\ntype = "sqlite"\npath = "{database}"\n[sink]\nwait = 30\n')
    done = site.run("lily", "ingest", "-c", str(recipe), "--format", "json", LILY_URL=stack.url, LILY_TOKEN=token)
    report = json.loads(done.stdout)
    assert (report["accepted"], report["edges"], report["rejected"]) == (6, 1, 0), done.stdout
    with httpx.Client(base_url=stack.url, headers={"Authorization": f"Bearer {token}"}) as http:
        column = http.get("/metadata/shop.customers.email").json()
        assert column["attributes"]["data_type"].lower() == "text"
        graph = http.get("/lineage/shop.customers").json()
        assert [node["qualified_name"] for node in graph["nodes"]][-1] == "shop.mailing_list"


def test_every_broken_plugin_is_reported_and_the_others_work(broken_site: Site, database: Path) -> None:
    found = {(plugin["origin"], plugin["name"]): plugin for plugin in broken_site.plugins()}
    assert {key: plugin["state"] for key, plugin in found.items()} == {
        ("lily-sqlite", "sqlite"): "shadowed",
        ("lily-same-name", "sqlite"): "ready",
        ("lily-no-import", "a"): "failed",
        ("lily-no-check", "b"): "failed",
        ("lily-broken-format", "tsv"): "failed",
        ("lily-broken-format", "ndjson"): "shadowed",
    }
    assert "No module named 'no_such_module'" in found["lily-no-import", "a"]["problem"]
    assert "the method check() is missing" in found["lily-no-check", "b"]["problem"]
    assert "taken by lily-same-name 0.1.0" in found["lily-sqlite", "sqlite"]["problem"]
    assert "taken by lily-metadata" in found["lily-broken-format", "ndjson"]["problem"]
    assert "5 not used. Correct or uninstall them" in broken_site.run("lily", "plugins").stdout
    recipe = database.with_name("recipe.toml")
    recipe.write_text(f'[source]\ntype = "sqlite"\npath = "{database}"\n')
    done = broken_site.run("lily", "ingest", "--dry-run", "-c", str(recipe), "--format", "json")
    assert json.loads(done.stdout)["accepted"] == 6
    recipe.write_text(f'[source]\ntype = "a"\npath = "{database}"\n')
    done = broken_site.run("lily", "ingest", "--dry-run", "-c", str(recipe))
    assert done.returncode == 1
    assert "a of lily-no-import 0.1.0 cannot be used" in done.stderr


def test_the_api_starts_beside_broken_plugins_and_says_what_it_leaves_out(
    broken_site: Site, stack: Stack, make_tenant: Callable[[], tuple[str, str]], tmp_path: Path
) -> None:
    _, token = make_tenant()
    log = tmp_path / "api.log"
    with api(broken_site, stack, log) as url, httpx.Client(base_url=url, timeout=30) as http:
        http.headers["Authorization"] = f"Bearer {token}"
        row = b'{"entity_type": "table", "attributes": {"name": "orders"}}\n'
        headers = {"Content-Type": "application/x-ndjson", "Prefer": "wait=30"}
        answer = http.post("/ingest-metadata/bulk", content=row, headers=headers)
        assert (answer.status_code, answer.json()["accepted"]) == (200, 1), answer.text
        headers["Content-Type"] = "text/tab-separated-values"
        assert http.post("/ingest-metadata/bulk", content=row, headers=headers).status_code == 415
    left_out = [line for line in log.read_text().splitlines() if "plugin.left_out" in line]
    assert len(left_out) == 2
    assert any("lily-broken-format" in line and "splitter" in line for line in left_out)


@contextmanager
def api(site: Site, stack: Stack, log: Path) -> Iterator[str]:
    """A second API process on the shared stack, with the site's plug-ins."""
    port = choose_ports(["api"], {})["api"]
    variables = {
        **stack.kafka.variables_of("api"),
        "LILY_DATABASE_URL": stack.database_of("lily_api"),
        "LILY_PORT": str(port),
        "LILY_DATA_DIR": str(log.parent),
        "PYTHONPATH": site.path,
    }
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "lily", "api"], stdout=output, stderr=output, env={**os.environ, **variables}
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait_until_live(url, process, log)
            yield url
        finally:
            process.terminate()
            process.wait(30)


def _wait_until_live(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if httpx.get(f"{url}/health/live").status_code == 200:
                return
        except httpx.TransportError:
            time.sleep(0.1)
    pytest.fail(f"the API did not start: {log.read_text()[-3000:]}")


def test_the_page_builds_exactly_this_example() -> None:
    page = (ROOT / "docs" / "how-to" / "write-a-plugin.md").read_text()
    shown = dict(re.findall(r"cat > lily-sqlite/(\S+) <<'END'\n(.*?)^END$", page, re.DOTALL | re.MULTILINE))
    files = [file for file in EXAMPLE.iterdir() if file.is_file() and file.suffix in {".py", ".toml"}]
    assert shown == {file.name: file.read_text() for file in files}
