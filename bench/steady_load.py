"""The load generator, a process of its own: `python -m bench.steady_load '{"kafka": …}'`.

It prepares, says `ready`, waits for a line on its standard input, then keeps the rate for the given time and prints
what it did as JSON. It sends what is due every few milliseconds; if it falls behind, it says by how much.
"""

import json
import sys
import time

from confluent_kafka import Producer

from bench.events import Payloads, producer, sample, send
from lily.bus.topics import ASSETS

SLICE_SECONDS = 0.005


def main() -> None:
    order = json.loads(sys.argv[1])
    rate, seconds = order["rate"], order["seconds"]
    payloads = Payloads(sample(order["pool"], int(rate * seconds), order["seed"]), changed=order["changed"])
    log = producer(order["kafka"])
    log.list_topics(timeout=15)
    print("ready", flush=True)
    sys.stdin.readline()
    cpu, began = time.process_time(), time.time()
    produced, behind = keep_rate(log, payloads, rate, seconds)
    unsent = log.flush(30)
    ended = time.time()
    print(
        json.dumps(
            {
                "produced": produced - unsent,
                "began": began,
                "ended": ended,
                "per_second": produced / (ended - began),
                "worst_delay_seconds": behind,
                "cpu_cores": (time.process_time() - cpu) / (ended - began),
            }
        )
    )


def keep_rate(log: Producer, payloads: Payloads, rate: int, seconds: float, topic: str = ASSETS) -> tuple[int, float]:
    """How many events were sent, and by how many seconds they were late at worst."""
    began, produced, behind = time.time(), 0, 0.0
    while (now := time.time()) < began + seconds:
        due = int((now - began) * rate) - produced
        send(log, payloads, due, topic)
        produced += due
        late = time.time() - now - SLICE_SECONDS
        behind = max(behind, late)
        time.sleep(max(0.0, -late))
    return produced, behind


if __name__ == "__main__":
    main()
