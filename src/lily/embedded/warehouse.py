"""The directory of the lake's files in the data directory of an embedded stack."""

from pathlib import Path

from lily.settings import Settings
from lily.store.lake.catalog import warehouse

LOCAL = "local"  # the start of the master of a Spark that runs in the pipeline's own process


def protect_warehouse(settings: Settings) -> None:
    """Creates the warehouse so that only its owner may enter it, and tightens one of an earlier version. Files in it
    are written with the umask, so the directory has to protect them.

    Leaves a configured warehouse as it is, and also the default one if Spark runs elsewhere: its executors write the
    files, and may run as another account.
    """
    if settings.warehouse or not settings.spark_master.startswith(LOCAL):
        return
    directory = Path(warehouse(settings))
    directory.mkdir(mode=0o700, exist_ok=True)
    directory.chmod(0o700)
