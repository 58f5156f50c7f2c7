"""The lake's warehouse, and its Iceberg catalog, which is kept in the same PostgreSQL as everything else."""

from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from lily.model.errors import Terminal
from lily.settings import S3, Settings
from lily.store.lake.tables import CATALOG

_S3: Final = ("s3://", "s3a://")


def is_s3(address: str) -> bool:
    """Whether a warehouse is in an object store."""
    return address.startswith(_S3)


def warehouse(settings: Settings) -> str:
    """A directory or an `s3://` address; by default a directory below the data directory."""
    given = settings.warehouse or str(settings.data_dir.resolve() / "warehouse")
    if is_s3(given) or "://" not in given:
        return given if "://" in given else str(Path(given).resolve())
    if given.startswith("file://"):
        return unquote(urlsplit(given).path)
    raise Terminal(f"LILY_WAREHOUSE is {given!r}; it must be a directory or an s3:// address.")


def spark_options(settings: Settings) -> dict[str, str]:
    """The options that register the catalog `lake` in Spark, without secrets."""
    return _named(
        {
            "": "org.apache.iceberg.spark.SparkCatalog",
            ".type": "jdbc",
            ".uri": jdbc_address(settings.database_url),
            ".jdbc.user": unquote(urlsplit(settings.database_url).username or ""),
            ".jdbc.schema-version": "V1",
            ".warehouse": warehouse(settings),
            ".cache-enabled": "false",  # the queries must see each other's commits immediately
            **(_store(settings.s3) if is_s3(warehouse(settings)) else {}),
        }
    )


def jdbc_address(database_url: str) -> str:
    """The address in JDBC's form, without user and password."""
    url = urlsplit(database_url)
    host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname
    # Query parameters such as `sslmode` mean the same to both drivers.
    return f"jdbc:postgresql://{host}:{url.port or 5432}{url.path}{f'?{url.query}' if url.query else ''}"


def spark_secrets(settings: Settings) -> dict[str, str]:
    """The secret options, to be set on a running session: every user of a machine can read a command line."""
    secret = {".jdbc.password": unquote(urlsplit(settings.database_url).password or "")}
    if is_s3(warehouse(settings)):
        secret[".s3.secret-access-key"] = settings.s3.secret_key
    return _named({key: value for key, value in secret.items() if value})


def _store(s3: S3) -> dict[str, str]:
    """Options of the object store. Without settings its client uses AWS's environment variables and roles."""
    given = {".s3.endpoint": s3.endpoint, ".client.region": s3.region, ".s3.access-key-id": s3.access_key}
    # A self-hosted server usually has no host name per bucket.
    own = {".s3.path-style-access": "true"} if s3.endpoint else {}
    return {
        ".io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        **{key: value for key, value in given.items() if value},
        **own,
    }


def _named(options: dict[str, str]) -> dict[str, str]:
    return {f"spark.sql.catalog.{CATALOG}{key}": value for key, value in options.items()}
