"""Spark's options: the catalog of the lake, and no secret on a command line."""

from pathlib import Path
from typing import Any

import pytest

from lily.model.errors import Terminal
from lily.pipeline import session
from lily.pipeline.rpc_secret import PROPERTIES, submit_arguments
from lily.settings import S3, Settings
from lily.store.lake.catalog import spark_options, spark_secrets

DATABASE = "postgresql://lily_pipeline:p%40ss@db.example:6432/lily?sslmode=require"
STORE = S3(endpoint="http://store.example:9000", region="eu-1", access_key="key", secret_key="s3cret")


def settings_of(tmp_path: Path, **given: Any) -> Settings:
    for class_path in ("spark", "s3"):
        (tmp_path / "jars" / class_path).mkdir(parents=True)
        (tmp_path / "jars" / class_path / f"{class_path}.jar").touch()
    return Settings(data_dir=tmp_path, database_url=DATABASE, jars_dir=tmp_path / "jars", **given)


def test_no_secret_is_an_option_of_the_command_line(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, warehouse="s3://bucket/warehouse", s3=STORE)
    told = " ".join(session._options(settings).values())
    assert "p@ss" not in told
    assert "p%40ss" not in told
    assert "s3cret" not in told
    assert spark_secrets(settings) == {
        "spark.sql.catalog.lake.jdbc.password": "p@ss",
        "spark.sql.catalog.lake.s3.secret-access-key": "s3cret",
    }


def test_the_catalog_uses_the_address_of_the_database(tmp_path: Path) -> None:
    options = spark_options(settings_of(tmp_path))
    assert options["spark.sql.catalog.lake.uri"] == "jdbc:postgresql://db.example:6432/lily?sslmode=require"
    assert options["spark.sql.catalog.lake.jdbc.user"] == "lily_pipeline"


def test_a_local_warehouse_has_no_options_of_an_object_store(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, warehouse=str(tmp_path / "lake"), s3=STORE)
    assert not [key for key in spark_options(settings) | spark_secrets(settings) if "s3" in key or "io-impl" in key]
    assert session._options(settings)["spark.jars"] == str(tmp_path / "jars" / "spark" / "spark.jar")


def test_a_self_hosted_object_store_uses_path_style_addresses(tmp_path: Path) -> None:
    options = spark_options(settings_of(tmp_path, warehouse="s3://bucket/warehouse", s3=STORE))
    assert options["spark.sql.catalog.lake.s3.endpoint"] == STORE.endpoint
    assert options["spark.sql.catalog.lake.s3.path-style-access"] == "true"
    assert options["spark.sql.catalog.lake.client.region"] == "eu-1"


def test_without_settings_the_object_store_uses_the_aws_environment(tmp_path: Path) -> None:
    options = spark_options(settings_of(tmp_path, warehouse="s3://bucket/warehouse"))
    assert options["spark.sql.catalog.lake.io-impl"].endswith("S3FileIO")
    assert not [key for key in options if ".s3." in key or ".client." in key]


def test_missing_jars_of_an_object_store_are_reported_with_the_remedy(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, warehouse="s3://bucket/warehouse")
    (tmp_path / "jars" / "s3" / "s3.jar").unlink()
    with pytest.raises(Terminal, match="lily jars --with s3"):
        session._options(settings)


def test_the_spark_options_of_a_user_take_precedence(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, spark_options={"spark.sql.shuffle.partitions": "64", "spark.cores.max": "8"})
    options = session._options(settings)
    assert (options["spark.sql.shuffle.partitions"], options["spark.cores.max"]) == ("64", "8")


def test_spark_options_are_read_from_the_environment_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILY_SPARK_OPTIONS", '{"spark.executor.memory": "4g"}')
    assert Settings().spark_options == {"spark.executor.memory": "4g"}


def test_in_local_mode_spark_authenticates_with_a_secret_of_its_own(tmp_path: Path) -> None:
    settings = settings_of(tmp_path)
    assert session._options(settings)["spark.authenticate"] == "true"
    assert submit_arguments(settings, "") == "pyspark-shell"


def test_the_secret_of_a_cluster_is_in_a_private_file_and_not_on_the_command_line(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("s3cret\n")
    settings = settings_of(tmp_path, spark_master="spark://master:7077", spark_secret_file=secret)
    options, arguments = session._options(settings), submit_arguments(settings, "--verbose pyspark-shell")
    assert options["spark.authenticate"] == options["spark.network.crypto.enabled"] == "true"
    assert "s3cret" not in " ".join((*options.values(), arguments))
    assert arguments.endswith("--verbose pyspark-shell")
    properties = tmp_path / "spark" / PROPERTIES
    assert str(properties) in arguments
    assert properties.read_text() == "spark.authenticate.secret s3cret\n"
    assert properties.stat().st_mode & 0o777 == 0o600


def test_without_a_secret_a_cluster_is_used_as_it_is(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, spark_master="spark://master:7077")
    assert "spark.authenticate" not in session._options(settings)


@pytest.mark.parametrize("content", [None, "", "two words"])
def test_a_file_without_a_secret_is_refused(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "secret").write_text(content)
    settings = settings_of(tmp_path, spark_master="spark://master:7077", spark_secret_file=tmp_path / "secret")
    with pytest.raises(Terminal, match="LILY_SPARK_SECRET_FILE"):
        submit_arguments(settings, "")
