"""Stores secrets (webhook keys, passwords of sources), encrypted before they reach the database.

Each secret is encrypted with a data key of its own (AES-256-GCM), and the data key with a master key that is never in
the database. Both ciphertexts authenticate the tenant and the name, so a row that is copied elsewhere cannot be
decrypted.
"""

import base64
import binascii
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from lily.model.errors import Terminal

_NONCE = 12
_KEY = 32


def read_master_keys(path: Path | None) -> list[bytes]:
    """One key per line. The first encrypts; the others decrypt what was encrypted before they were replaced."""
    if path is None:
        raise Terminal("There is no master key. Set LILY_MASTER_KEY_FILE to a file with 32 random bytes in base64.")
    try:
        keys = [base64.b64decode(line.strip(), validate=True) for line in path.read_text().split("\n") if line.strip()]
    except (OSError, binascii.Error, ValueError) as error:
        raise Terminal(f"The master key in {path} cannot be read: {error}") from error
    for key in keys or [b""]:
        if len(key) != _KEY:
            raise Terminal(f"The master key in {path} must be {_KEY} bytes in base64; it has {len(key)}.")
    return keys


class Vault:
    """Encrypts and decrypts. `open` raises Terminal if the row was altered or moved, or if it was encrypted with a
    master key that is not among the given ones. The first of them encrypts."""

    def __init__(self, *master_keys: bytes) -> None:
        self._masters = [AESGCM(key) for key in master_keys]
        self._path: Path | None = None
        self._changed_at = 0

    @classmethod
    def of(cls, path: Path | None) -> "Vault":
        """With the keys of a file, which is read again when it changes: `lily keys rotate` adds keys while Lily runs.
        Raises Terminal if there is none that can be used, and so may every use."""
        vault = cls()
        vault._path = path
        vault._read()
        return vault

    def seal(self, tenant: str, name: str, secret: str) -> tuple[bytes, bytes]:
        """The encrypted data key and the encrypted secret."""
        if self._path is not None and self._path.stat().st_mtime_ns != self._changed_at:
            self._read()
        associated = _associated_data(tenant, name)
        data_key = AESGCM.generate_key(_KEY * 8)
        return _seal(self._masters[0], data_key, associated), _seal(AESGCM(data_key), secret.encode(), associated)

    def open(self, tenant: str, name: str, wrapped_key: bytes, sealed: bytes) -> str:
        secret = self._opened(tenant, name, wrapped_key, sealed)
        if secret is None and self._path is not None:
            self._read()
            secret = self._opened(tenant, name, wrapped_key, sealed)
        if secret is None:
            raise Terminal(
                f"The secret {name!r} cannot be decrypted: its row was altered or moved, "
                "or it was encrypted with another master key."
            )
        return secret

    def _opened(self, tenant: str, name: str, wrapped_key: bytes, sealed: bytes) -> str | None:
        associated = _associated_data(tenant, name)
        for master in self._masters:
            try:
                return _open(AESGCM(_open(master, wrapped_key, associated)), sealed, associated).decode()
            except InvalidTag:
                continue
        return None

    def _read(self) -> None:
        # Before the keys: a file that changes in between is read again.
        changed_at = 0 if self._path is None or not self._path.exists() else self._path.stat().st_mtime_ns
        self._masters = [AESGCM(key) for key in read_master_keys(self._path)]
        self._changed_at = changed_at


class Secrets:
    """The secrets of one tenant. Every query names the tenant, and row-level security enforces it as well."""

    def __init__(self, connection: psycopg.Connection, tenant: str, vault: Vault) -> None:
        self._connection, self._tenant, self._vault = connection, tenant, vault

    def put(self, name: str, secret: str) -> None:
        wrapped, sealed = self._vault.seal(self._tenant, name, secret)
        with self._tenant_transaction():
            self._connection.execute(
                "insert into secrets (tenant_id, name, wrapped_key, sealed) values (%s, %s, %s, %s) "
                "on conflict (tenant_id, name) do update "
                "set wrapped_key = excluded.wrapped_key, sealed = excluded.sealed, updated_at = now()",
                [self._tenant, name, wrapped, sealed],
            )

    def get(self, name: str) -> str | None:
        with self._tenant_transaction():
            row = self._connection.execute(
                "select wrapped_key, sealed from secrets where tenant_id = %s and name = %s", [self._tenant, name]
            ).fetchone()
        return None if row is None else self._vault.open(self._tenant, name, *row)

    def remove(self, name: str) -> bool:
        with self._tenant_transaction():
            cursor = self._connection.execute(
                "delete from secrets where tenant_id = %s and name = %s", [self._tenant, name]
            )
        return cursor.rowcount > 0

    @contextmanager
    def _tenant_transaction(self) -> Iterator[None]:
        with self._connection.transaction():
            self._connection.execute("select set_config('lily.tenant', %s, true)", [self._tenant])
            yield


def _associated_data(tenant: str, name: str) -> bytes:
    return f"lily/secret/{tenant}/{name}".encode()


def _seal(cipher: AESGCM, plain: bytes, associated: bytes) -> bytes:
    nonce = os.urandom(_NONCE)
    return nonce + cipher.encrypt(nonce, plain, associated)


def _open(cipher: AESGCM, sealed: bytes, associated: bytes) -> bytes:
    return cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], associated)
