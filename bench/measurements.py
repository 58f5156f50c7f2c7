"""All measurements, in the order they are taken: each finds the catalogue as the ones before have filled it."""

from collections.abc import Callable
from typing import NamedTuple

from bench import door, footprint, growth, hot_lane, latency, reads
from bench.findings import Outcome
from bench.run import Run


class Measurement(NamedTuple):
    name: str
    about: str
    measure: Callable[[Run], Outcome]
    module: str


def _measurement(name: str, about: str, measure: Callable[[Run], Outcome]) -> Measurement:
    return Measurement(name, about, measure, measure.__module__)


MEASUREMENTS = (
    _measurement("start", "seconds from `lily up` to ready", footprint.start),
    _measurement("hot_lane", "events/s from the log to queryable, against bare COPY + merge", hot_lane.measure),
    _measurement("latency", "produced to queryable and committed to published, at a steady rate", latency.measure),
    _measurement("reads", "point reads over HTTP against plain FastAPI; lists and searches", reads.measure),
    _measurement("door", "events/s accepted over HTTP, in bulk and one by one", door.measure),
    _measurement("growth", "hot lane p99 with 10 times the assets", growth.measure),
    _measurement("footprint", "resident memory after the load", footprint.memory),
    _measurement("idle", "CPU and memory of the idle stack", footprint.idle),
)
