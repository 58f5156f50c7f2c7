"""Where the client goes and which token it shows."""

from pathlib import Path

import httpx
import orjson
import pytest

from lily.client.address import Address, NoAddress, find_address
from lily.client.call import failure_of
from lily.client.errors import Refused

EMBEDDED = "http://127.0.0.1:8585"


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LILY_URL", "LILY_TOKEN", "LILY_DATA_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


def embed(directory: Path, phase: str = "ready") -> None:
    directory.mkdir()
    (directory / "stack.json").write_bytes(orjson.dumps({"url": EMBEDDED, "phase": phase}))
    (directory / "admin.token").write_text("admins-own\n")


def test_what_is_given_comes_first_then_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILY_URL", "https://lily.example/")
    monkeypatch.setenv("LILY_TOKEN", "env")
    assert find_address() == Address("https://lily.example", "env")
    assert find_address("http://here:1", "mine") == Address("http://here:1", "mine")


def test_else_it_is_the_embedded_stack_of_this_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embed(tmp_path / ".lily")
    assert find_address() == Address(EMBEDDED, "admins-own")
    embed(tmp_path / "elsewhere")
    monkeypatch.setenv("LILY_DATA_DIR", str(tmp_path / "elsewhere"))
    assert find_address().token == "admins-own"


def test_the_embedded_stacks_token_is_never_shown_to_another_address(tmp_path: Path) -> None:
    embed(tmp_path / ".lily")
    with pytest.raises(NoAddress, match="LILY_TOKEN"):
        find_address("https://lily.example")


@pytest.mark.parametrize("phase", ["stopped", "failed"])
def test_a_stack_that_does_not_run_is_no_address(tmp_path: Path, phase: str) -> None:
    embed(tmp_path / ".lily", phase)
    with pytest.raises(NoAddress, match="lily up"):
        find_address()


def test_without_a_stack_the_error_names_every_way_to_one(tmp_path: Path) -> None:
    with pytest.raises(NoAddress) as caught:
        find_address()
    for remedy in ("`lily up`", "LILY_DATA_DIR", "LILY_URL", "LILY_TOKEN", str(tmp_path / ".lily")):
        assert remedy in str(caught.value)


def test_a_damaged_record_is_no_address(tmp_path: Path) -> None:
    (tmp_path / ".lily").mkdir()
    (tmp_path / ".lily" / "stack.json").write_text("{")
    with pytest.raises(NoAddress, match="lily up"):
        find_address()


@pytest.mark.parametrize("url", ["localhost:8585", "ftp://x", "http://", "/tmp"])
def test_what_is_no_address_is_said_to_be_none(url: str) -> None:
    with pytest.raises(NoAddress, match="http://HOST:PORT"):
        find_address(url, "t")


def test_the_token_does_not_show_in_a_log() -> None:
    assert "secret" not in repr(Address("http://here", "secret"))


@pytest.mark.parametrize("token", ["lily_X\n", "\tlily_X ", "lily_X\r\n"])
def test_white_space_around_a_token_is_no_part_of_it(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_address("http://here", token).token == "lily_X"
    monkeypatch.setenv("LILY_TOKEN", token)
    assert find_address("http://here").token == "lily_X"


@pytest.mark.parametrize("token", ["lily_X\ny", "lily_X y", "lily_X\x00", "lily_Xé", "lily_X\ud800", "lily_X\x7f"])
def test_a_token_that_no_header_can_contain_is_refused_without_quoting_it(token: str) -> None:
    with pytest.raises(NoAddress, match="LILY_TOKEN") as caught:
        find_address("http://here", token)
    assert "lily_X" not in str(caught.value)


def test_an_error_about_a_header_does_not_quote_it() -> None:
    request = httpx.Request("GET", "http://here/metadata")
    failure = failure_of(request, httpx.LocalProtocolError("Illegal header value b'Bearer lily_X\\n'"))
    assert isinstance(failure, Refused)
    assert "lily_X" not in str(failure)
