"""A lake separate from the stack's: its own database for the catalog, its own directory, one Spark session."""

import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from pyspark.sql import SparkSession

from lily.embedded.bootstrap import url_for_role
from lily.embedded.jars import jars_dir
from lily.embedded.state import load
from lily.pipeline.session import open_session
from lily.settings import Settings
from lily.store.lake import tables
from lily.store.postgres.migrations import migrate
from tests.shared_stack import ENVIRONMENT, Stack


@dataclass(frozen=True)
class Lake:
    spark: SparkSession
    settings: Settings
    owner: str  # the libpq URI of the database's owner


@pytest.fixture(scope="session")
def lake(stack: Stack) -> Iterator[Lake]:
    name = f"lake_{uuid.uuid4().hex[:8]}"
    with psycopg.connect(stack.database, autocommit=True) as connection:
        connection.execute(f"create database {name}".encode())
    owner = urlunsplit(urlsplit(stack.database)._replace(path=f"/{name}"))
    passwords = {role: word for role, word in load(stack.data_dir).passwords.items() if role != "lily"}
    migrate(owner, passwords)
    with tempfile.TemporaryDirectory(prefix="lily-lake-", ignore_cleanup_errors=True) as directory:
        settings = Settings(
            data_dir=Path(directory),
            database_url=url_for_role(owner, "lily_pipeline", passwords["lily_pipeline"]),
            kafka_bootstrap=stack.kafka.brokers.bootstrap,
            kafka=stack.kafka.brokers.security,
            jars_dir=jars_dir(),
            spark_master="local[2]",
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("JAVA_TOOL_OPTIONS", ENVIRONMENT["JAVA_TOOL_OPTIONS"])
            spark = open_session(settings)
        for statement in tables.definitions(2):
            spark.sql(statement)
        yield Lake(spark, settings, owner)
        spark.stop()
