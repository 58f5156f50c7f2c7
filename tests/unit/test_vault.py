"""A vault notices that the file with its keys has changed."""

import base64
import os
import stat
from pathlib import Path

import pytest

from lily.embedded.state import replace_file
from lily.model.errors import Terminal
from lily.store.postgres.access.secrets import Vault

OLD, NEW = bytes(32), bytes(range(32))


def write(path: Path, *keys: bytes) -> None:
    replace_file(path, "\n".join(base64.b64encode(key).decode() for key in keys))


def test_a_vault_encrypts_with_a_key_that_was_added_and_decrypts_what_others_encrypted_with_it(tmp_path: Path) -> None:
    path = tmp_path / "master.key"
    write(path, OLD)
    vault = Vault.of(path)
    before = vault.seal("t", "name", "secret")
    write(path, NEW, OLD)
    assert vault.open("t", "name", *Vault(NEW).seal("t", "name", "theirs")) == "theirs"
    assert Vault(NEW).open("t", "name", *vault.seal("t", "name", "mine")) == "mine"
    assert vault.open("t", "name", *before) == "secret"


def test_a_vault_does_not_decrypt_with_a_key_that_was_removed_once_it_has_read_the_file_again(tmp_path: Path) -> None:
    path = tmp_path / "master.key"
    write(path, NEW, OLD)
    vault = Vault.of(path)
    before = Vault(OLD).seal("t", "name", "secret")
    write(path, NEW)
    vault.seal("t", "name", "secret")
    with pytest.raises(Terminal, match="cannot be decrypted"):
        vault.open("t", "name", *before)


def test_a_file_that_is_replaced_is_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "master.key"
    path.write_text("old")
    path.chmod(0o644)
    replace_file(path, "new")
    assert (path.read_text(), stat.S_IMODE(path.stat().st_mode)) == ("new", 0o600)
    assert [one.name for one in tmp_path.iterdir()] == ["master.key"]
    assert path.stat().st_uid == os.geteuid()
