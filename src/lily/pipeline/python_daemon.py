"""Spark forks its Python workers from this module, so its imports are loaded once and workers start fast."""

import gc
import os
import sys

# Spark puts zipped copies of itself and one of its jars on the path, and before every task a worker reads the directory
# of each archive again, which takes 40 % of the time of a small batch. Lily depends on the installed package, so the
# archives can be removed before anything is imported from them.
sys.path[:] = [entry for entry in sys.path if not entry.endswith((".zip", ".jar"))]
sys.path_importer_cache.clear()

from pyspark.daemon import manager  # noqa: E402

import lily.pipeline.hot.task  # noqa: E402 - imported for the workers to inherit
import lily.pipeline.lake.task  # noqa: E402
import lily.pipeline.quality.task  # noqa: E402, F401

if __name__ == "__main__":
    # The lake's workers have a lower priority than the hot lane's; forked workers inherit it. See session.py.
    os.nice(int(os.environ.get("LILY_NICENESS", "0")))
    # A batch creates tens of thousands of objects that live until its end, so the default of one garbage collection per
    # 700 new objects would find nothing to free.
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
    manager()
