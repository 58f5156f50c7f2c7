"""Iceberg's bucket transform of an id prefix."""

from collections.abc import Callable
from functools import lru_cache

from pyiceberg.transforms import BucketTransform
from pyiceberg.types import StringType


@lru_cache
def bucket_of(buckets: int) -> Callable[[str], int]:
    """The function that maps a prefix to one of so many buckets."""
    transform: Callable[[str], int] = BucketTransform(buckets).transform(StringType())  # type: ignore[assignment]
    return lru_cache(maxsize=1 << 16)(transform)  # a prefix has 16 bits
