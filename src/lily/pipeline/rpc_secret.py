"""The secret with which the processes of Spark recognise each other: a process runs the code that messages bring."""

import os
import shlex
from pathlib import Path

from lily.model.errors import Terminal
from lily.settings import Settings

PROPERTIES = "authentication.conf"


def authentication(settings: Settings) -> dict[str, str]:
    """Options of the session. In local mode Spark makes a secret of its own; a cluster has one, which its master and
    its workers know, too."""
    if settings.spark_master.startswith("local"):
        return {"spark.authenticate": "true"}
    if settings.spark_secret_file is None:
        return {}
    return {"spark.authenticate": "true", "spark.network.crypto.enabled": "true"}


def submit_arguments(settings: Settings, given: str) -> str:
    """What `spark-submit` gets: those that are given, and the secret in a private file, because every user of a machine
    can read a command line. Raises Terminal if the file of the secret cannot be read."""
    arguments = given or "pyspark-shell"
    if settings.spark_secret_file is None or settings.spark_master.startswith("local"):
        return arguments
    path = settings.data_dir.resolve() / "spark" / PROPERTIES
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(f"spark.authenticate.secret {_secret(settings.spark_secret_file)}\n")
    return f"--load-spark-defaults --properties-file {shlex.quote(str(path))} {arguments}"


def _secret(path: Path) -> str:
    try:
        secret = path.read_text().strip()
    except OSError as error:
        reason = error.strerror
        raise Terminal(f"LILY_SPARK_SECRET_FILE is {path}, which cannot be read: {reason}. Correct it.") from error
    if not secret or len(secret.split()) > 1:
        raise Terminal(f"{path} (LILY_SPARK_SECRET_FILE) has to contain one word: the secret of the Spark cluster.")
    return secret
