"""Where the lake is: its warehouse, and the catalogue that lives in the same PostgreSQL as everything else."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from lily.model.errors import Terminal
from lily.settings import Settings
from lily.store.lake.tables import CATALOG

_S3: Final = ("s3://", "s3a://")


def warehouse(settings: Settings) -> str:
    """A directory or an `s3://` address; by default a directory of the stack."""
    given = settings.warehouse or str(settings.data_dir.resolve() / "warehouse")
    if given.startswith(_S3) or "://" not in given:
        return given if "://" in given else str(Path(given).resolve())
    if given.startswith("file://"):
        return unquote(urlsplit(given).path)
    raise Terminal(f"LILY_WAREHOUSE is {given!r}; it takes a directory or an s3:// address.")


def spark_options(settings: Settings) -> dict[str, str]:
    """What makes Spark find the lake under the name `lake`."""
    prefix = f"spark.sql.catalog.{CATALOG}"
    url = urlsplit(settings.database_url)
    options = {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "jdbc",
        ".uri": f"jdbc:postgresql://{url.hostname}:{url.port or 5432}{url.path}",
        ".jdbc.user": unquote(url.username or ""),
        ".jdbc.password": unquote(url.password or ""),
        ".jdbc.schema-version": "V1",
        ".warehouse": warehouse(settings),
        ".cache-enabled": "false",  # the queries must see each other's commits at once
        **{f".{key}": value for key, value in _storage(settings, _S3_OF_SPARK).items()},
    }
    if warehouse(settings).startswith(_S3):
        options[".io-impl"] = "org.apache.iceberg.aws.s3.S3FileIO"
    return {prefix + key: value for key, value in options.items()}


def file_properties(settings: Settings) -> dict[str, str]:
    """What makes PyIceberg find the same files."""
    return _storage(settings, _S3_OF_PYICEBERG)


_S3_OF_SPARK: Final = {
    "endpoint": "s3.endpoint",
    "access_key": "s3.access-key-id",
    "secret_key": "s3.secret-access-key",
    "region": "client.region",
}
_S3_OF_PYICEBERG: Final = {
    "endpoint": "s3.endpoint",
    "access_key": "s3.access-key-id",
    "secret_key": "s3.secret-access-key",
    "region": "s3.region",
}


def _storage(settings: Settings, names: Mapping[str, str]) -> dict[str, str]:
    """The settings of the object store. Without any, the engines look where they always do (AWS's own variables)."""
    if not warehouse(settings).startswith(_S3):
        return {}
    given = settings.s3.model_dump(exclude_defaults=True)
    properties = {names[key]: str(value) for key, value in given.items() if key in names}
    if settings.s3.endpoint and names is _S3_OF_SPARK:
        properties["s3.path-style-access"] = "true"  # a server of one's own has no host name for each bucket
    return properties
