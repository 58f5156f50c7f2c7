"""A server that speaks S3, on this machine."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from lily.embedded.ports import choose_ports
from lily.settings import S3
from tests.cluster.processes import running
from tests.cluster.spark_cluster import HOST, wait_until

BUCKET = "lily"


@contextmanager
def object_store(place: Path) -> Iterator[S3]:
    """The settings that lead to it; it has one empty bucket."""
    port = choose_ports(["s3"], {})["s3"]
    s3 = S3(endpoint=f"http://{HOST}:{port}", region="us-east-1", access_key="lily", secret_key="only-for-tests")
    argv = (sys.executable, "-m", "moto.server", "--host", HOST, "--port", str(port))
    with running("s3", argv, {}, place / "logs") as server:
        wait_until(lambda: _has_bucket(s3), server.last_words)
        yield s3


def _has_bucket(s3: S3) -> bool:
    try:
        return httpx.put(f"{s3.endpoint}/{BUCKET}", timeout=5).is_success
    except httpx.HTTPError:  # it does not listen yet
        return False
