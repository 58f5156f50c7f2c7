"""Spark forks its Python workers from this module, so what it imports is loaded once and every worker starts warm."""

import gc
import os
import sys

# Spark puts zipped copies of itself and one of its jars on the path, and before every task a worker reads the table of
# contents of each archive anew: 40 % of the time of a small batch. Lily depends on the installed package, so the
# archives can go before anything is imported from them.
sys.path[:] = [entry for entry in sys.path if not entry.endswith((".zip", ".jar"))]
sys.path_importer_cache.clear()

from pyspark.daemon import manager  # noqa: E402

import lily.pipeline.hot.stream  # noqa: E402 - imported for the workers to inherit
import lily.pipeline.lake.stream  # noqa: E402, F401

if __name__ == "__main__":
    # The lake's workers let the hot lane's go first; those they fork inherit it. See session.worker_niceness.
    os.nice(int(os.environ.get("LILY_NICENESS", "0")))
    # A batch makes tens of thousands of objects that live exactly as long as it does. Looking through them for
    # cycles after every 700 new ones is work for nothing.
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
    manager()
