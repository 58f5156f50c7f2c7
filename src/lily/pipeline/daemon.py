"""Spark forks its Python workers from this module, so what it imports is loaded once and every worker starts warm."""

import gc

from pyspark.daemon import manager

import lily.pipeline.hot  # noqa: F401 - imported for the workers to inherit

if __name__ == "__main__":
    # A batch makes tens of thousands of objects that live exactly as long as it does. Looking through them for
    # cycles after every 700 new ones cost a third of the worker's time.
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
    manager()
